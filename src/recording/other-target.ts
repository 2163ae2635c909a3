import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Dataset, Target } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { targetKey } from './target-key.ts';

/**
 * Returns the key of another configured target whose members are in the same list, such as the pending
 * rewards of other addresses. Returns null if there is none.
 */
export async function findOtherTarget(
  sql: postgres.Sql,
  { name, source, history, request }: Dataset,
  target: Target,
): Promise<string | null> {
  if (history !== 'state' || isWholeList({ request }, target)) return null;
  const list = listKeysJson({ request }, target);
  const [row] = await ormOf(sql).execute<{ target_key: string }>(expression`
    select d.target_key from ${targetDatasets} d join ${targets} t using (source, target_key)
    where d.source = ${source.name} and d.dataset = ${name} and d.active and d.target_key <> ${targetKey(target)}
      and t.target @> ${list}::text::jsonb limit 1`);
  return row?.target_key ?? null;
}

/** Returns true if a target records all members of its list, because it has no other keys than the list. */
export function isWholeList({ request }: Pick<Dataset, 'request'>, target: Target): boolean {
  return Object.keys(target).every((key) => request.includes(key));
}

/** Returns the keys of the list of a target as JSON. Targets with these keys have members in the same list. */
export const listKeysJson = ({ request }: Pick<Dataset, 'request'>, target: Target): string =>
  JSON.stringify(Object.fromEntries(request.map((key) => [key, target[key] ?? ''])));
