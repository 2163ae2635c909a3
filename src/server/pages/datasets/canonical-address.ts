import type { Redirect } from '../page.ts';
import { hrefOf, normalizeParameters, parametersOf } from './address.ts';

/**
 * Returns the parameters of a page without empty fields of forms.
 * @returns a redirect to the shorter URL if there were empty fields
 */
export function canonicalizeParameters(
  path: string,
  given: Readonly<Record<string, unknown>>,
): Redirect | { readonly given: Readonly<Record<string, unknown>> } {
  const tidy = normalizeParameters(given);
  const parameters = parametersOf(tidy);
  const same = parameters === null || Object.entries(given).every(([name, value]) => tidy[name] === value);
  return same ? { given: tidy } : { location: hrefOf(path, parameters) };
}
