import { describe, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { orderedColumns, type Relation } from '../../../src/reporting/relations/relation.ts';
import { rowsParameters } from '../../../src/reporting/relations/row-query.ts';
import { type Row, type RowsPage, readRows } from '../../../src/reporting/relations/rows.ts';
import { relationSql } from '../../../src/reporting/views/declared-objects.ts';
import { withDatabase } from '../../support/fixture.ts';
import { readPages, viewOf } from './pages.ts';

const catalogue = getCatalogue();
const views = [...catalogue.views.values()].filter(({ parameters }) => parameters === null);

const { it, sql } = withDatabase({ recorded: true, max: 4, connection: { TimeZone: 'UTC', jit: 'off' } });
const read = (relation: Relation, parameters: Readonly<Record<string, string>> = {}) =>
  readRows(sql, relation, rowsParameters(relation).parse(parameters));

/** The keys of the rows, in order. Not their values: some count up to now. */
const which = ({ key }: Relation, rows: readonly Row[]) =>
  rows.map((row) => key.map(({ name }) => JSON.stringify(row[name])).join()).join('\n');

/** Views with more rows than one page. */
const filled = new Set<string>();
it.each(views)('pages of $name equal the list, in its order, in both directions', async (relation) => {
  const columns = [...new Set([relation.key[0]?.name ?? '', orderedColumns(relation).at(-1)?.name ?? ''])];
  for (const sort of columns.flatMap((column) => [column, `-${column}`])) {
    const whole = await read(relation, { limit: '20', sort });
    if (whole.rows.length > 6) filled.add(relation.name);
    const inPages: Row[] = [];
    let after: string | null = '';
    while (inPages.length < whole.rows.length && after !== null) {
      const page: RowsPage = await read(relation, { limit: '6', sort, ...(after ? { after } : {}) });
      inPages.push(...page.rows);
      after = page.next;
    }
    expect(which(relation, inPages.slice(0, 20)), `${relation.name} by ${sort}`).toBe(
      which(relation, whole.rows),
    );
  }
});
it('most views have several pages', () => expect(filled.size).toBeGreaterThan(58));

describe('keys', () => {
  it.each(views)('identify the rows of $name', async ({ name, key }) => {
    const [counted] = await sql.unsafe<{ rows: number; keys: number }[]>(
      `select count(*)::int as rows, count(distinct (${key.map((one) => `r."${one.name}"`).join(', ')}))::int as keys from ${relationSql(name)} r`,
    );
    expect(counted?.keys).toBe(counted?.rows);
  });

  it('identify all later responses that contradict the first one', async () => {
    await sql`
      insert into recorder.proposed_blocks
      select r.* from (select * from recorder.proposed_blocks where valid_to is null order by block_number limit 1) b,
        generate_series(1, 3) n,
        jsonb_populate_record(null::recorder.proposed_blocks, to_jsonb(b) || jsonb_build_object('block_hash', 'later ' || n)) r`;
    const pages = await readPages(sql, viewOf('disagreements'), { dataset: 'proposed_blocks', limit: '1' });
    await sql`delete from recorder.proposed_blocks where starts_with(block_hash, 'later ')`;
    expect(pages).toHaveLength(3);
  });

  it('of rows at a past moment equal the keys of the history', async () => {
    const functions = [...catalogue.views.values(), ...catalogue.internal.values()].filter(({ name }) =>
      name.endsWith('_as_of'),
    );
    expect(functions.length).toBeGreaterThan(50);
    const names = ({ key }: Relation) => key.map(({ name }) => name).sort();
    for (const one of functions) {
      const name = one.name.replace(/_as_of$/, '');
      const now = catalogue.views.get(name) ?? catalogue.internal.get(name);
      expect(names(one), one.name).toEqual(now && names(now));
    }
  });
});

describe('rows', () => {
  it('are sorted by values, not by their texts', async () => {
    const { rows } = await read(viewOf('node_validators'), {
      sort: '-weight',
      columns: 'weight',
      limit: '1000',
    });
    const weights = rows.map(({ weight }) => BigInt(String(weight)));
    expect(weights.length).toBeGreaterThan(10);
    expect(new Set(weights.map((one) => String(one).length)).size).toBeGreaterThan(1);
    expect(weights).toEqual(weights.toSorted((one, other) => (other > one ? 1 : -1)));
  });

  it('continue after the same row if its values have changed since', async () => {
    const uptime = viewOf('node_uptime');
    const window = { from: '2026-01-01', to: '2126-01-01' };
    const whole = await read(uptime, window);
    const inPages = await readPages(sql, uptime, { ...window, limit: '1' });
    expect(whole.rows.length).toBeGreaterThan(2);
    expect(which(uptime, inPages)).toBe(which(uptime, whole.rows));
  });

  it('of functions without a key are those of the first page, although their values changed since', async () => {
    const revise = async (chain: string, value: number) => {
      await sql`
        insert into recorder.metric_points_series (chain_id, metric, time_interval) values (${chain}, 'txCount', 'day')
        on conflict do nothing`;
      const ofChain = sql`(select series_id from recorder.metric_points_series s where s.chain_id = ${chain})`;
      await sql`update recorder.metric_points set valid_to = now() where series_id = ${ofChain}`;
      await sql`
        insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
        values (${ofChain}, '2020-01-01', ${value}, now(), 1)`;
    };
    const chains = viewOf('top_chains');
    const window = { from: '2020-01-01', to: '2020-01-02', metric: 'txCount', limit: '1' };
    for (const [chain, value] of [
      ['a', 3],
      ['b', 2],
      ['c', 1],
    ] as const)
      await revise(chain, value);
    const { rows, next } = await read(chains, window);
    // What the page shows besides its rows is of the same moment.
    const { args } = rowsParameters(chains).parse({ ...window, after: next });
    expect(next).toContain(`@${args.as_of}[`);
    await revise('a', 0);
    const rest = await readPages(sql, chains, { ...window, after: next ?? '' });
    expect([...rows, ...rest].map(({ chain_id, value }) => [chain_id, value])).toEqual([
      ['a', '3'],
      ['b', '2'],
      ['c', '1'],
    ]);
    await sql`delete from recorder.metric_points where bucket_start = '2020-01-01'`;
  });

  it('are those of a past moment, or an error names the start of the record', async () => {
    const [since] = await sql<{ at: string }[]>`
      select to_char(min(recorded_since), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from reporting_internal.recorded_since where dataset = 'metric_points'`;
    const then = { as_of: since?.at ?? '', limit: '1000', columns: 'bucket_start,value' };
    const [counted] = await sql<{ count: number }[]>`
      select count(*)::int from reporting.metric_points_as_of(${then.as_of}::text::timestamptz)`;
    const rows = await read(viewOf('metric_points'), then);
    expect(rows.rows.length).toBe(Math.min(counted?.count ?? 0, 1000));
    await expect(read(viewOf('metric_points'), { as_of: '2001-01-01' })).rejects.toMatchObject({
      message: 'there is no record of metric_points at 2001-01-01T00:00:00Z',
      hint: `recorded since ${since?.at}`,
    });
  });

  it('are filtered by parameters, and have the requested columns', async () => {
    const points = viewOf('metric_points');
    const { rows } = await read(points, {
      metric: 'txCount',
      'time_interval.prefix': 'da',
      'bucket_start.gte': '2026-06-01',
      'extra.null': 'true',
      columns: 'metric,bucket_start',
    });
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(['metric', 'bucket_start']);
      expect(row.metric).toBe('txCount');
      expect(String(row.bucket_start) >= '2026-06-01').toBe(true);
    }
    expect((await read(points, { metric: "txCount' or true --" })).rows).toEqual([]);
  });
});
