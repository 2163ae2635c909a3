import type postgres from 'postgres';
import type { RuleFacts } from '../rule.ts';
import { isRecordedAt } from './is-recorded-at.ts';

/**
 * Returns the user's own validators by node id, with the name of the node or its id: configured nodes and
 * `watch.nodeIds`.
 */
export async function findOwnNodeIds(
  sql: postgres.Sql,
  at: Date,
  facts: RuleFacts,
): Promise<Map<string, string>> {
  const known = (await isRecordedAt(sql, at, ['node_identity']))
    ? await sql<{ node: string; node_id: string }[]>`
      select node, node_id from reporting.node_identity_as_of(${at}::timestamptz)
      where node = any(${[...facts.nodes]}::text[]) and node_id is not null`
    : [];
  return new Map([
    ...facts.nodeIds.map((id): [string, string] => [id, id]),
    ...known.map(({ node, node_id }): [string, string] => [node_id, node]),
  ]);
}
