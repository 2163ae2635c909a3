import { beforeAll, describe, expect } from 'vitest';
import { validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import type { Relation } from '../../../src/reporting/relations/relation.ts';
import { rowsParameters } from '../../../src/reporting/relations/row-query.ts';
import { type Row, readRows } from '../../../src/reporting/relations/rows.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type Parameters, queryOf, readPages, viewOf } from './pages.ts';

const { it, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC', jit: 'off' } });

/**
 * Two hundred subnets over three years: quiet months, busy hours, many changes in one instant; some left, some
 * returned.
 */
const HISTORY = `
  insert into recorder.subnets (network, subnet_id, create_block_timestamp, create_block_index, is_l1, valid_from, valid_to, ended_by, run_id)
  select 'mainnet', 'subnet-' || thing, now(), version, false, starts, coalesce(ends, case when thing % 3 = 0 then starts + interval '1 hour' end),
    case when ends is not null then 'changed' when thing % 3 = 0 then 'gone' end, 1
  from (
    select thing, version, at as starts, lead(at) over (partition by thing order by at) as ends
    from generate_series(1, 200) thing, generate_series(0, 5) version,
      -- Half of all in the same ten minutes, the others anywhere.
      lateral (select now() - interval '3 years' + case when thing % 2 = 0 then version * interval '100 days' + thing / 10 * interval '1 minute'
        else (abs(hashint4(thing * 10 + version)) % 900) * interval '1 day' + version * interval '1 second' end as at) at
    group by thing, version, at) versions`;

/** Readings of two nodes over three years; the first ones are of failed runs, before the record started. */
const READINGS = `
  insert into recorder.chain_heights (node, chain, height, observed_at, run_id)
  select 'node-' || n, 'P', k, now() - interval '3 years 20 days' + k * interval '4 days' + n * interval '1 minute', 1
  from generate_series(1, 2) n, generate_series(0, 270) k`;

beforeAll(async () => {
  await sql.unsafe(HISTORY);
  await sql.unsafe(READINGS);
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('s', 'all', 'subnets', 3600000, true, now(), now() - interval '3 years'),
      ('s', 'all', 'chain_heights', 3600000, true, now(), now() - interval '3 years')`;
  await sql.unsafe('vacuum analyze');
});

const keyOf = (relation: Relation, row: Row) => relation.key.map(({ name }) => row[name]).join(' ');

/** Reads all pages. */
async function readKeysByPage(relation: Relation, parameters: Parameters): Promise<string[]> {
  const rows = await readPages(sql, relation, { ...parameters, limit: '60' });
  return rows.map((row) => keyOf(relation, row));
}

/** The same rows by one plain statement. */
async function readKeysAtOnce(
  { arrival: _, ...relation }: Relation,
  parameters: Parameters,
): Promise<string[]> {
  const query = queryOf(relation, parameters);
  const { rows } = await readRows(sql, relation, { ...query, limit: 1_000_000 });
  return rows.map((row) => keyOf(relation, row));
}

describe('pages by recording time', () => {
  it.each<[string, string, Parameters]>([
    ['subnets_changes', 'at', {}],
    ['subnets_changes', 'at', { change: 'left' }],
    ['subnets_changes', 'at', { 'subnet_id.prefix': 'subnet-1' }],
    ['subnets_changes', 'at', { 'at.lte': new Date(Date.now() - 400 * 86_400_000).toISOString() }],
    ['subnets_changes', 'at', { 'at.gt': new Date(Date.now() - 700 * 86_400_000).toISOString() }],
    ['subnets_changes', 'at', { subnet_id: 'nobody' }],
    ['subnets_history', 'valid_from', {}],
    ['subnets', 'valid_from', {}],
    ['chain_heights', 'observed_at', {}],
    ['chain_heights', 'observed_at', { node: 'node-2' }],
    ['chain_heights', 'observed_at', { as_of: new Date(Date.now() - 500 * 86_400_000).toISOString() }],
    [
      'chain_heights',
      'observed_at',
      { 'observed_at.gt': new Date(Date.now() - 700 * 86_400_000).toISOString() },
    ],
    ['subnets', 'valid_from', { as_of: new Date(Date.now() - 500 * 86_400_000).toISOString() }],
  ])('of %s by %s, filtered by %o, equal one plain statement', async (name, column, parameters) => {
    for (const sort of [column, `-${column}`]) {
      const expected = await readKeysAtOnce(viewOf(name), { ...parameters, sort });
      expect(await readKeysByPage(viewOf(name), { ...parameters, sort })).toEqual(expected);
      expect(expected.length > 60 || parameters.subnet_id === 'nobody').toBe(true);
    }
  });

  it.each(['observed_at', '-observed_at'])(
    'before the start of the record are refused by %s',
    async (sort) => {
      const query = validateParameters(rowsParameters(viewOf('chain_heights')), {
        as_of: '2001-01-01T00:00:00Z',
        sort,
      });
      await expect(readRows(sql, viewOf('chain_heights'), query)).rejects.toThrow(
        'there is no record of chain_heights at 2001-01-01T00:00:00Z',
      );
    },
  );
});
