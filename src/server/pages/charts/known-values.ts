import type postgres from 'postgres';
import type { Drawable } from '../../../api/drawables.ts';
import { snakeCase } from '../../../datasets/names.ts';

/** The most targets, and values of a column, that are offered. */
const MOST = 500;

/** What is recorded, by column: one thing each. */
export type Target = Readonly<Record<string, string>>;

/** Reads the targets of a drawable. Functions have none. */
export async function readTargets(sql: postgres.Sql, { dataset, keys }: Drawable): Promise<Target[]> {
  if (!dataset) return [];
  const rows = await sql<{ target: string }[]>`
    select target from reporting.freshness where dataset = ${dataset.name} order by target limit ${MOST}`;
  const names = new Set(keys.map(({ name }) => name));
  return rows.map(({ target }) =>
    Object.fromEntries(Object.entries(targetOf(target)).filter(([name]) => names.has(name))),
  );
}

/**
 * What is drawn where the address does not say all that is needed: the first target of those that agree with what it says, as far as
 * there is no choice or nothing was said.
 */
export function completed(things: Target, targets: readonly Target[], needed: readonly string[]): Target {
  const missing = needed.filter((name) => things[name] === undefined);
  const agreeing = targets.filter((target) =>
    Object.entries(things).every(([name, value]) => target[name] === undefined || target[name] === value),
  );
  const [first] = agreeing;
  const nothing = needed.every((name) => things[name] === undefined);
  const filled = missing.flatMap((name) => {
    const value = first?.[name];
    const only = agreeing.every((target) => target[name] === value);
    return value !== undefined && (nothing || only) ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(filled), ...things };
}

/** A target's `key=value key=value` as columns. */
export function targetOf(text: string): Target {
  return Object.fromEntries(
    text.split(' ').flatMap((part) => {
      const at = part.indexOf('=');
      if (at < 1) return [];
      return [[snakeCase(part.slice(0, at)), part.slice(at + 1)] as const];
    }),
  );
}
