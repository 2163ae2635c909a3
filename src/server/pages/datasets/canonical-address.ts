import type { Redirect } from '../page.ts';
import { hrefOf, parametersOf, tidied } from './address.ts';

/**
 * What a page was asked, without the fields that a form left empty.
 * @returns where the same is told by a shorter address, when fields were left empty
 */
export function tidy(
  path: string,
  given: Readonly<Record<string, unknown>>,
): Redirect | { readonly given: Readonly<Record<string, unknown>> } {
  const tidy = tidied(given);
  const parameters = parametersOf(tidy);
  const same = parameters === null || Object.entries(given).every(([name, value]) => tidy[name] === value);
  return same ? { given: tidy } : { location: hrefOf(path, parameters) };
}
