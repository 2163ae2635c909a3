import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { closeDays } from '../../../src/recording/close-days.ts';
import { coverageStatement } from '../../../src/reporting/relations/coverage-days.ts';
import { differencesParameters, readDifferences } from '../../../src/reporting/relations/differences.ts';
import { validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import type { Relation } from '../../../src/reporting/relations/relation.ts';
import { countRows } from '../../../src/reporting/relations/row-count.ts';
import { type Row, readRows, rowsStatement } from '../../../src/reporting/relations/rows.ts';
import type { ParameterizedStatement } from '../../../src/reporting/relations/statement.ts';
import { day, write } from '../../server/pages/node-states.ts';
import { withDatabase } from '../../support/fixture.ts';
import { maxRows, type Step, stepsIn } from '../../support/plan-steps.ts';
import { makeSeriesOf } from '../../support/points.ts';
import { datasetOf, type Parameters, queryOf, readPage, readPages, viewOf, walkPages } from './pages.ts';

const POINTS = 100_000;
const LIMIT = 50;
/** Polls the readings of each node. */
const POLLS = 240;
const now = Date.now();
const { it, sql } = withDatabase({
  max: 1,
  connection: { TimeZone: 'UTC', jit: 'off', max_parallel_workers_per_gather: '0' },
  debug: (_, text, values) => {
    lastStatement = { text, values: values.map(String) };
    statements.push(lastStatement);
  },
});
/** The last query, and all of them. */
let lastStatement: ParameterizedStatement = { text: '', values: [] };
let statements: ParameterizedStatement[] = [];

beforeAll(async () => {
  await makeSeriesOf(sql);
  // Forty series, recorded as time passed, every tenth point of each revised within a day.
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
    select s.series_id, at, version, at + (1 + version * 20) * interval '1 hour',
      case when version = 0 and n / 40 % 10 = 0 then at + interval '21 hours' end, 1
    from (select public.series_of(chain::text, 'txCount', 'hour') as series_id, chain from generate_series(0, 39) chain offset 0) s
    join generate_series(1, ${POINTS}::int) n on n % 40 = s.chain cross join generate_series(0, 1) version,
      lateral (select now() - ${POINTS / 40 + 21}::int * interval '1 hour' + n / 40 * interval '1 hour' as at) at
    where version = 0 or n / 40 % 10 = 0
    order by at, version`;
  await sql`
    insert into recorder.p_blocks (node, height, id, parent_id, valid_from, run_id)
    select 'n', n, n::text, '', now() - (100 - n / 100.0) * interval '1 day', 1 from generate_series(1, 10000) n`;
  // Another node lacks the first blocks, and has some of its own.
  await sql`
    insert into recorder.p_blocks (node, height, id, parent_id, valid_from, run_id)
    select 'o', n, n::text, '', now() - interval '1 hour', 1 from generate_series(9001, 10100) n`;
  // Blocks of the X-chain with up to two transactions; every hundredth had another one until ten days ago.
  await sql`
    insert into recorder.x_blocks (node, height, txs, valid_from, valid_to, run_id)
    select 'n', n, case n % 3 when 0 then '[]' when 1 then '[{"id":"a"}]' else '[{"id":"a"},{"id":"b"}]' end::jsonb,
      case when n % 100 = 0 then now() - interval '10 days' else now() - (100 - n / 100.0) * interval '1 day' end, null, 1
    from generate_series(1, 10000) n
    union all
    select 'n', n * 100, '[{"id":"old"},{"id":"older"}]', now() - interval '90 days', now() - interval '10 days', 1 from generate_series(1, 80) n`;
  await sql`insert into recorder.targets (source, target_key, target) values ('s', 'blocks', '{"node":"n"}'), ('s', 'more', '{"node":"o"}')`;
  // Peers, few of them benched.
  await sql`
    insert into recorder.peers (node, node_id, benched, valid_from, run_id)
    select 'n', 'N' || n, case when n % 2000 = 0 then '["C"]' else '[]' end::jsonb, now() - interval '20 days', 1 from generate_series(1, 10000) n`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('s', 'of n', 'peers', 3600000, true, now(), now() - interval '30 days')`;
  // Validators of two nodes; every other one has no transaction.
  await sql`
    insert into recorder.validators (node, subnet_id, node_id, start_time, tx_id, weight, valid_from, run_id)
    select node, 's', 'N' || n % 20, to_timestamp(n / 20), case when n % 2 = 0 then 't' || n end, 1, now() - interval '1 day', 1
    from (values ('n', 0, 99), ('o', 50, 139)) as stored(node, first, last), generate_series(first, last) n`;
  await sql`insert into recorder.targets (source, target_key, target) values ('s', 'of n', '{"node":"n","subnetId":"s"}'), ('s', 'of o', '{"node":"o","subnetId":"s"}')`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at, last_success_at, last_complete_at)
    select 's', target, 'validators', 3600000, true, now() - interval '1 day', now() - interval '1 day', now(), now()
    from unnest(array['of n', 'of o']) target`;
  // Ten thousand members of a list, of which one changes every two minutes; the last change was a month ago.
  await sql`
    insert into recorder.subnets (network, subnet_id, create_block_index, valid_from, valid_to, ended_by, run_id)
    select 'mainnet', (n % 10000)::text, n, at, case when n < 90000 then at + interval '20000 minutes' end, case when n < 90000 then 'changed' end, 1
    from generate_series(0, 99999) n, lateral (select now() - interval '170 days' + n * interval '2 minutes' as at) at`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('s', 'subnets', 'subnets', 3600000, true, now(), now() - interval '170 days')`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    select 's', target, dataset, 3600000, true, now(), now() - interval '2 years'
    from (values ('blocks', 'p_blocks'), ('more', 'p_blocks'), ('blocks', 'x_blocks')) as stored(target, dataset)`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at, expected_from)
    select 's', n::text, 'metric_points', 3600000, true, now(), now() - interval '2 years', ${now - 400 * day}::bigint from generate_series(1, 200) n`;
  await sql`insert into recorder.targets (source, target_key, target) select 's', n::text, '{}' from generate_series(1, 200) n`;
  await sql`
    insert into recorder.coverage (dataset, target_key, axis, covered)
    select 'metric_points', n::text, 'time', int8multirange(int8range(${now - 400 * day}::bigint, ${now}::bigint)) - (
      select range_agg(int8range(at, at + 3600000)) from generate_series(1, 5) hole,
        lateral (select ${now}::bigint - hole * ${60 * day}::bigint - n * 1000000 as at) at)
    from generate_series(1, 200) n`;
  const nodes = Array.from({ length: 20 }, (_, n) => `node-${String(n).padStart(2, '0')}`);
  await write(
    sql,
    nodes.map((node) => ({ observer: 'o', node, absences: [], states: [[now - 100 * day, 'up']] })),
    now,
  );
  // Readings of twenty validators at two nodes four times a day, packed except for the last days; one was missing in
  // some polls, one was late.
  await sql`
    insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
    select node, 's', 'N' || n, n + poll * 0.001, poll % 3 = 0, date_trunc('day', now()) - poll * interval '6 hours' + second * interval '1 second', 1
    from (values ('n', 1), ('o', 7)) as stored(node, second), generate_series(1, 20) n, generate_series(1, ${POLLS}::int) poll
    where n <> 7 or poll % 5 > 0`;
  // At noon, so that the same days are closed at any time of the day.
  await pack();
  await sql`
    insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
    values ('n', 's', 'late', 1, true, date_trunc('day', now()) - interval '30 days' + interval '1 second', 2)`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('s', 'of n', 'validator_uptime', 3600000, true, now(), now() - interval '2 years')`;
  await sql.unsafe('vacuum analyze');
});

/** Packs readings, except those of the last days. */
async function pack(): Promise<void> {
  const closed = await closeDays(sql, (Math.floor(now / day) - 1.5) * day, new AbortController().signal);
  if (closed.packed === 0) throw new Error(`no readings were packed: ${JSON.stringify(closed)}`);
}

/** Returns the plan of a statement. */
async function stepsOf({ text, values }: ParameterizedStatement): Promise<Step[]> {
  const [row] = await sql.unsafe<{ 'QUERY PLAN': unknown }[]>(
    `explain (analyze, timing off, format json) ${text}`,
    [...values],
  );
  return z.tuple([z.unknown()]).parse(row?.['QUERY PLAN']).flatMap(stepsIn);
}

const indexes = (steps: readonly Step[]) => [...new Set(steps.flatMap(({ index }) => index ?? []))];

const points = datasetOf('metric_points');
const page = (name: string, parameters: Parameters) => readPage(sql, viewOf(name), parameters);
const pageSteps = (view: Relation, parameters: Parameters) =>
  stepsOf(rowsStatement(view, queryOf(view, parameters)));

describe('a page of rows', () => {
  const after = (at: Date) => JSON.stringify(['39', 'txCount', 'hour', at.toISOString()]);
  const late = new Date(now - 10 * day);
  it.each([
    ['first', {}, 'metric_points_now'],
    ['near the end', { after: `chain_id${after(late)}` }, 'metric_points_now'],
    ['from the end', { sort: '-chain_id' }, 'metric_points_now'],
    ['of one thing', { chain_id: '7', metric: 'txCount', time_interval: 'hour' }, 'metric_points_now'],
    ['of a past moment', { as_of: late.toISOString() }, 'metric_points_now'],
  ])('reads no more rows of %s than it shows', async (_, parameters, index) => {
    const steps = await pageSteps(points.now, { ...parameters, limit: String(LIMIT) });
    expect(indexes(steps)).toContain(index);
    // Series by series: the rest of one, and those after it until the page is full. At a past moment the 960 values
    // that ended in these ten days are searched for each series, of which few were valid.
    expect(maxRows(steps)).toBeLessThanOrEqual('as_of' in parameters ? 40 * 960 : 2 * (LIMIT + 1));
  });

  it('of a past moment, filled by current values, searches ended values no further than it reaches', async () => {
    const query = queryOf(points.now, { as_of: late.toISOString(), limit: String(LIMIT) });
    const page = await readRows(sql, points.now, query);
    // Of the one series in which the page ends, not of all forty.
    expect(maxRows(await stepsOf(lastStatement))).toBeLessThanOrEqual(960 + 2 * (LIMIT + 1));
    // Two series and a half.
    const all = await readRows(sql, points.now, { ...query, limit: 6_000 });
    expect(page.rows).toEqual(all.rows.slice(0, LIMIT));
  });

  it.each(['chain_id', '-chain_id'])(
    'of a past moment by %s shows each row once, over pages and series',
    async (sort) => {
      const parameters = { as_of: late.toISOString(), sort, 'chain_id.lt': '12', limit: '999' };
      const walked = await readPages(sql, points.now, parameters);
      const all = await readRows(sql, points.now, { ...queryOf(points.now, parameters), limit: POINTS });
      expect(walked.length).toBeGreaterThan(5_000);
      expect(walked).toEqual(all.rows);
    },
  );

  it('of versions by recording time queries as long a time as a page covers', async () => {
    statements = [];
    expect((await page('subnets_changes', { limit: String(LIMIT) })).rows).toHaveLength(LIMIT);
    // The start and end of the record, the number of rows, and the page.
    expect(statements).toHaveLength(3);
  });

  it('of the ranges of coverage computes only the targets that it shows', async () => {
    const view = viewOf('coverage_ranges');
    const steps = await pageSteps(view, { limit: '10' });
    // The list of targets is read, and the first few of the two hundred are computed.
    expect(steps.filter(({ kind }) => kind === 'ProjectSet').every(({ rows }) => rows < 100)).toBe(true);
    expect(maxRows(steps)).toBeLessThan(1_000);
    const walked = await readPages(sql, view, { limit: '999' });
    const all = await sql<Row[]>`
      select * from reporting_internal.coverage_ranges order by dataset, target, axis, kind, reason, begins, ends`;
    const lineOf = ({ target, kind, begins }: Row) => `${target} ${kind} ${begins}`;
    expect(walked.map(lineOf)).toEqual(all.map(lineOf));
  });

  it('of a log at a past moment reads no more of current and earlier versions than it shows', async () => {
    const steps = await pageSteps(datasetOf('node_p_blocks').now, {
      as_of: late.toISOString(),
      limit: String(LIMIT),
    });
    expect(indexes(steps)).toEqual(expect.arrayContaining(['p_blocks_key', 'p_blocks_superseded']));
    expect(maxRows(steps)).toBeLessThanOrEqual(2 * (LIMIT + 1));
  });

  it.each([{}, { as_of: late.toISOString() }])('of all nodes reads a page of each node: %o', async (asOf) => {
    statements = [];
    expect((await page('p_blocks', { ...asOf, limit: String(LIMIT) })).rows).toHaveLength(LIMIT);
    // The first keys of each node, and the page.
    const queries = [...statements];
    expect(queries).toHaveLength(2);
    for (const query of queries)
      expect(maxRows(await stepsOf(query))).toBeLessThanOrEqual(
        'as_of' in asOf ? POINTS / 50 : 5 * (LIMIT + 1),
      );
  });

  it('of every value reads no more of the last ones and of earlier ones than it shows', async () => {
    const steps = await pageSteps(viewOf('metric_points_history'), { limit: String(LIMIT) });
    expect(indexes(steps)).toEqual(['metric_points_now', 'metric_points_history']);
    expect(maxRows(steps)).toBeLessThanOrEqual(2 * (LIMIT + 1));
  });

  it.each([
    ['of the greatest node', 'node', ['o', '9500']],
    ['of the least node in descending order', '-node', ['n', '5000']],
  ])(
    'of the versions of a log after a row %s reads no more than it shows',
    async (_, sort, [node, height]) => {
      const view = viewOf('node_p_blocks_history');
      const [row] = await sql<{ valid_from: string }[]>`
      select valid_from::text from recorder.p_blocks where node = ${node ?? ''} and height = ${height ?? ''}`;
      const after = `${sort}${JSON.stringify([node, height, row?.valid_from])}`;
      const steps = await pageSteps(view, { sort, after, limit: String(LIMIT) });
      expect(maxRows(steps)).toBeLessThanOrEqual(2 * (LIMIT + 1));
    },
  );

  it.each([
    { of: 'what is so now', from: 'reporting.metric_points' },
    { of: 'every value', from: 'reporting.metric_points_history' },
    { of: 'a past moment', from: `reporting.metric_points_as_of(now() - interval '10 days')` },
  ])('of one series reads that series: $of', async ({ from }) => {
    const text = `select * from ${from} where chain_id = '7' and metric = 'txCount' and time_interval = 'hour'`;
    const steps = await stepsOf({ text, values: [] });
    expect(indexes(steps)).toContain('metric_points_now');
    expect(maxRows(steps)).toBeLessThan(POINTS / 5);
  });

  it.each([
    ['subnets_history', '-valid_from'],
    ['metric_points', '-valid_from'],
    ['metric_points_history', 'valid_from'],
  ])('of %s by %s is found by recording time', async (name, sort) => {
    expect((await page(name, { sort, limit: String(LIMIT) })).rows).toHaveLength(LIMIT);
    const steps = await stepsOf(lastStatement);
    expect(indexes(steps).some((index) => /_(began|recorded)$/.test(index))).toBe(true);
    // An index of block ranges finds some megabytes.
    expect(maxRows(steps)).toBeLessThan(POINTS / 3);
  });

  it('by recording time, with less than a page left, queries the end and then all of it', async () => {
    const [last] = await sql<{ at: Date }[]>`select max(valid_from) as at from recorder.subnets`;
    const parameters = {
      sort: 'valid_from',
      'valid_from.gte': last?.at.toISOString() ?? '',
      limit: String(LIMIT),
    };
    statements = [];
    expect((await page('subnets_history', parameters)).rows).toHaveLength(1);
    expect(statements).toHaveLength(2);
  });

  it.each(
    ['node_uptime_by_day', 'node_states', 'node_health_history'].flatMap((name) =>
      [{}, { sort: '-observer' }, { observer: 'o' }].map((parameters) => ({ name, parameters })),
    ),
  )('of $name, $parameters, computes only the probes that it shows', async ({ name, parameters }) => {
    const steps = await pageSteps(viewOf(name), { ...parameters, limit: '1' });
    // One probe has a hundred days; twenty have two thousand.
    expect(maxRows(steps)).toBeLessThan(300);
  });

  it.each([{}, { sort: '-node' }, { node: 'n' }])(
    'of the elements of a list, %o, reads no row whose list is empty',
    async (parameters) => {
      const steps = await pageSteps(viewOf('peers_benched'), parameters);
      expect(indexes(steps)).toContain('peers_benched_filled');
      expect(maxRows(steps)).toBeLessThanOrEqual(10);
    },
  );

  describe.each([{}, { sort: '-node' }, { 'height.lt': '3000' }])(
    'of the elements of a log, %o,',
    (parameters) => {
      const view = viewOf('node_x_blocks_txs');
      const query = (more: Parameters) => queryOf(view, { ...parameters, ...more });

      it.each([
        { 'valid_from.lt': new Date(now - 30 * day).toISOString(), limit: '1000' },
        { 'valid_from.gte': new Date(now - 95 * day).toISOString(), limit: '999' },
        { limit: '1000' },
      ])('shows each row once in the order of all: %o', async (more) => {
        const walked = await readPages(sql, view, { ...parameters, ...more });
        const all = await readRows(sql, view, { ...query(more), limit: 20_000 });
        expect(walked.length).toBeGreaterThan(2_000);
        expect(walked).toEqual(all.rows);
      });

      it.each([{}, { 'valid_from.lt': late.toISOString() }])(
        'reads about a page, also in the middle: %o',
        async (more) => {
          const far = await readRows(sql, view, { ...query(more), limit: 1_500 });
          for (const after of [{}, { after: String(far.next) }]) {
            const page = await readRows(sql, view, query({ ...more, ...after, limit: String(LIMIT) }));
            expect(page.rows).toHaveLength(LIMIT);
            // A thousand blocks arrived after that moment, and are the first ones from the end.
            expect(maxRows(await stepsOf(lastStatement))).toBeLessThanOrEqual(1_000 + 4 * (LIMIT + 2));
          }
        },
      );
    },
  );

  it.each([{}, { sort: '-height' }])('of all nodes, %o, computes only its own rows', async (parameters) => {
    expect((await page('p_blocks', { ...parameters, limit: String(LIMIT) })).rows).toHaveLength(LIMIT);
    expect(maxRows(await stepsOf(lastStatement))).toBeLessThanOrEqual(5 * (LIMIT + 1));
  });

  it.each([
    ['p_blocks', {}, 1_000],
    ['p_blocks', { sort: '-height' }, 1_000],
    ['p_blocks', { 'height.gte': '8990', 'height.lt': '9010' }, 7],
    ['validators', {}, 9],
    ['validators', { sort: '-subnet_id' }, 9],
    ['validators', { node_id: 'N3' }, 2],
    ['validators', { sort: '-node_id' }, 9],
  ])('of %s, %o, shows each row once, page after page of %i', async (name, parameters, limit) => {
    const walked = await walkPages(async (after) => {
      const read = await page(name, { ...parameters, limit: String(limit), ...after });
      expect(read.rows.length).toBeGreaterThan(0);
      return read;
    });
    const { text, values } = rowsStatement(viewOf(name), {
      ...queryOf(viewOf(name), parameters),
      limit: 20_000,
    });
    const whole = await sql.unsafe(text, [...values]);
    expect(walked).toHaveLength(whole.length);
    expect(new Set(walked.map((row) => JSON.stringify(row))).size).toBe(whole.length);
  });
});

describe('a page of readings', () => {
  /** All rows, page after page, and by one statement over the view. */
  async function both(name: string, parameters: Parameters) {
    const walked = await readPages(sql, viewOf(name), { ...parameters, limit: '300' });
    const { entities: _, arrival: __, ...plain } = viewOf(name);
    const whole = await readRows(sql, plain, { ...queryOf(viewOf(name), parameters), limit: 20_000 });
    return { walked, whole: whole.rows };
  }

  it.each([
    ['validator_uptime', {}, 2 * POLLS * 20 - 2 * 48 + 1],
    ['validator_uptime', { sort: '-observed_at' }, 2 * POLLS * 20 - 2 * 48 + 1],
    ['validator_uptime', { node: 'o' }, POLLS * 20 - 48],
    ['validator_uptime', { node_id: 'N7', sort: '-observed_at' }, 2 * (POLLS - 48)],
    ['validator_uptime_observations', {}, 2 * POLLS + 1],
    ['validator_uptime_daily', {}, 2 * 60 * 20 + 1],
    ['validator_uptime_daily', { sort: '-node' }, 2 * 60 * 20 + 1],
    ['validator_uptime_daily', { node_id: 'late' }, 1],
    ['validator_uptime_members', {}, 41],
  ])('of %s, %o, equals the rows of one plain statement', async (name, parameters, count) => {
    const { walked, whole } = await both(name, parameters);
    expect(walked).toEqual(whole);
    expect(walked).toHaveLength(count);
  });

  it.each([
    ['validator_uptime', {}],
    ['validator_uptime', { sort: '-observed_at' }],
    ['validator_uptime', { 'observed_at.gte': new Date(now - 40 * day).toISOString() }],
    ['validator_uptime_daily', {}],
    ['validator_uptime', { as_of: new Date(now - 40 * day).toISOString() }],
    ['validator_uptime_daily', { sort: '-node' }],
  ])('of %s, %o, unpacks only the polls or members that it shows', async (name, parameters) => {
    await page(name, { ...parameters, limit: '10' });
    // There are 9,505 readings, and 2,401 averages. Of one or two members 319 unpacked rows each are searched.
    expect(maxRows(await stepsOf(lastStatement))).toBeLessThan(1_000);
  });

  it.each(['validator_uptime', 'validator_uptime_daily'])('of %s is not counted', async (name) => {
    expect(await countRows(sql, viewOf(name), queryOf(viewOf(name), {}))).toBeNull();
  });

  it('between two moments reads only the rows that it shows', async () => {
    const uptime = datasetOf('validator_uptime');
    const parameters = { from: new Date(now - 50 * day).toISOString(), limit: '10' };
    const { rows } = await readDifferences(
      sql,
      uptime,
      validateParameters(differencesParameters(uptime), parameters),
    );
    expect(rows).toHaveLength(10);
    expect(maxRows(await stepsOf(lastStatement))).toBeLessThan(500);
  });
});

describe('a page of differences', () => {
  const between = async (from: number) => {
    const parameters = { from: new Date(from).toISOString(), limit: String(LIMIT) };
    await readDifferences(sql, points, validateParameters(differencesParameters(points), parameters));
    return lastStatement;
  };

  it('over a short time is found by time', async () => {
    const steps = await stepsOf(await between(now - day / 4));
    expect(indexes(steps)).toEqual(
      expect.arrayContaining(['metric_points_recorded', 'metric_points_revised']),
    );
    expect(steps.filter(({ kind, table }) => kind === 'Seq Scan' && table === 'metric_points')).toEqual([]);
    expect(maxRows(steps)).toBeLessThan(POINTS / 5);
  });

  it('over a long time is found by key, and reads a bounded part', async () => {
    const steps = await stepsOf(await between(now - 60 * day));
    expect(indexes(steps)).toContain('metric_points_history');
    expect(maxRows(steps)).toBeLessThan(POINTS / 3);
  });

  it('over a long time continues after its last row', async () => {
    const from = new Date(now - 60 * day).toISOString();
    const read = (more: Parameters) =>
      readDifferences(sql, points, validateParameters(differencesParameters(points), { from, ...more }));
    const both = await read({ limit: String(2 * LIMIT) });
    const first = await read({ limit: String(LIMIT) });
    const second = await read({ limit: String(LIMIT), after: first.next ?? '' });
    expect([...first.rows, ...second.rows]).toEqual(both.rows);
  });
});

it('computes the coverage of a year at the cost of ranges plus days, not ranges times days', async () => {
  const steps = await stepsOf(
    coverageStatement(points, { from: new Date(now - 365 * day).toISOString(), to: null, target: null }),
  );
  expect(maxRows(steps)).toBeLessThan(10_000);
});

describe('a page of readings that ended long ago', () => {
  const supply = datasetOf('node_current_supply').now;
  beforeAll(async () => {
    // Values of twenty subnets that were not read again.
    await sql`
      insert into recorder.current_supply (node, subnet_id, supply, observed_at, run_id)
      select 'n', 's' || n, n, date_trunc('day', now()) - interval '59 days', 1 from generate_series(1, 20) n`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
      values ('s', 'of n', 'current_supply', 3600000, true, now(), date_trunc('day', now()) - interval '59 days')`;
    await pack();
    await sql`vacuum analyze`;
    await sql`set enable_seqscan = off`; // so small a table is scanned completely otherwise
  });
  afterAll(() => sql`reset enable_seqscan`);

  it.each([{}, { as_of: new Date(now - 40 * day).toISOString() }])(
    'skips the later polls of other series: %o',
    async (parameters) => {
      statements = [];
      expect((await readPage(sql, supply, { ...parameters, limit: '10' })).rows).toHaveLength(10);
      const steps: Step[] = [];
      for (const one of [...statements]) steps.push(...(await stepsOf(one)));
      const observations = steps.filter(({ table }) => table === 'reading_observations');
      // The twenty, and those of validators in the hours around; there are 500.
      expect(maxRows(observations)).toBeGreaterThanOrEqual(20);
      expect(maxRows(observations)).toBeLessThan(100);
    },
  );
});
