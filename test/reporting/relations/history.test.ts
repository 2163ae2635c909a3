import { beforeAll, describe, expect } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { type DatasetRelations, getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { coverageParameters, readCoverage } from '../../../src/reporting/relations/coverage-days.ts';
import {
  differencesParameters,
  type RowDifference,
  readDifferences,
} from '../../../src/reporting/relations/differences.ts';
import { InvalidRequestError, validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import { rowsParameters } from '../../../src/reporting/relations/row-query.ts';
import { readRows } from '../../../src/reporting/relations/rows.ts';
import { findSeriesSource, readSeries, seriesParameters } from '../../../src/reporting/relations/series.ts';
import { versionsOf } from '../../../src/reporting/relations/versions.ts';
import { relationSql } from '../../../src/reporting/views/declared-objects.ts';
import { withDatabase } from '../../support/fixture.ts';
import { makeSeriesOf } from '../../support/points.ts';
import { datasetOf, walkPages } from './pages.ts';

const catalogue = getCatalogue();
const { it, sql } = withDatabase({ recorded: true, max: 4, connection: { TimeZone: 'UTC', jit: 'off' } });

/** Recorded moments, from the first on. */
async function moments(one: DatasetRelations): Promise<string[]> {
  const { from } = versionsOf(one);
  const rows = await sql.unsafe<{ at: string }[]>(
    `with versions as (select * from ${from} as v),
    instants as (select begins as at from versions union select ends from versions),
    numbered as (select at, row_number() over (order by at) as place, count(*) over () as all from instants
      where at >= (select min(recorded_since) from reporting_internal.recorded_since where dataset = '${one.name}'))
    select at::text from numbered where place in (1, "all" / 3, "all" * 2 / 3, "all" - 1) order by at`,
  );
  return rows.map(({ at }) => at.replace('+00', 'Z'));
}

/** All differences, page by page. */
const differences = (one: DatasetRelations, from: string, limit: string): Promise<RowDifference[]> =>
  walkPages((after) =>
    readDifferences(sql, one, validateParameters(differencesParameters(one), { from, limit, ...after })),
  );

describe('changes between two moments', () => {
  it('equal the difference of the two as-of lists, for every dataset with such lists', async () => {
    const changes = new Map<string, number>();
    for (const one of catalogue.datasets.values()) {
      if (one.now.asOf === null) continue;
      const keys = one.now.key.map(({ name, emptyForNull }) =>
        emptyForNull ? `coalesce(${name}, '')` : name,
      );
      const contentColumns = versionsOf(one).content.map(({ name }) => name);
      const list = (at: string) =>
        `select row(${keys.join(', ')})::text as k, row(${contentColumns.join(', ')})::text as content from ${relationSql(one.now.asOf ?? '')}(${at})`;
      for (const from of await moments(one)) {
        const expected = await sql.unsafe<{ change: string; count: number }[]>(
          `select case when o.k is null then 'added' when n.k is null then 'left' else 'changed' end as change, count(*)::int
        from (${list(`'${from}'`)}) o full join (${list('now()')}) n using (k)
        where o.content is distinct from n.content group by 1 order by 1`,
        );
        const found = await differences(one, from, '50');
        const counted = new Map<string, number>();
        for (const { change } of found) counted.set(change, (counted.get(change) ?? 0) + 1);
        expect(Object.fromEntries(counted), one.name).toEqual(
          Object.fromEntries(expected.map(({ change, count }) => [change, count])),
        );
        for (const { change } of expected) changes.set(change, (changes.get(change) ?? 0) + 1);
        for (const { change, differs } of found) expect(differs.length > 0).toBe(change === 'changed');
      }
    }
    expect([...changes.keys()].sort()).toEqual(['added', 'changed', 'left']);
  });

  it('are found behind many reverted changes, on pages that may be empty', async () => {
    const points = datasetOf('metric_points');
    const [from = ''] = await moments(points);
    await makeSeriesOf(sql);
    await sql`
      insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
      select (select public.series_of('0', 'back', 'day')), '2020-01-01'::timestamptz + n * interval '1 day', case v when 1 then 7 when 2 then n / 20 end,
        ${from}::text::timestamptz + (v - 1) * interval '1 microsecond',
        case when v < 2 then ${from}::text::timestamptz + v * interval '1 microsecond' end, 1
      from generate_series(1, 20) n, generate_series(1, 2) v`;
    await sql`
      insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
      select (select public.series_of('0', 'back', 'day')), '2020-01-01'::timestamptz + n * interval '1 day', 0,
        ${from}::text::timestamptz - interval '1 hour', ${from}::text::timestamptz, 1 from generate_series(1, 20) n`;
    const before = new Date(Date.parse(from) - 1).toISOString();
    const parameters = { from: before, limit: '1', chain_id: '0', metric: 'back' };
    const pages: number[] = [];
    let after: string | null = null;
    const found: RowDifference[] = [];
    do {
      const query = validateParameters(
        differencesParameters(points),
        after === null ? parameters : { ...parameters, after },
      );
      const page = await readDifferences(sql, points, query);
      pages.push(page.rows.length);
      found.push(...page.rows);
      after = page.next;
    } while (after !== null);
    expect(pages).toContain(0);
    expect(found).toMatchObject([{ change: 'changed', before: { value: '0' }, after: { value: '1' } }]);
    await sql`delete from recorder.metric_points where series_id = public.series_of('0', 'back', 'day')`;
  });

  it('exclude a value that differs only in its digits', async () => {
    const validators = datasetOf('node_validators');
    const [from = ''] = await moments(validators);
    const of = { node: 'digits', limit: '10' };
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, weight, delegation_fee, valid_from, valid_to, ended_by, run_id)
      select 'digits', 's', 'NodeID-1', '2026-01-01', v, ('2.' || repeat('0', v))::numeric,
        ${from}::text::timestamptz + (v - 1) * interval '1 microsecond',
        case when v < 2 then ${from}::text::timestamptz + v * interval '1 microsecond' end, case when v < 2 then 'changed' end, 1
      from generate_series(1, 2) v`;
    const page = await readDifferences(
      sql,
      validators,
      validateParameters(differencesParameters(validators), { ...of, from }),
    );
    expect(page.rows).toMatchObject([{ change: 'changed', differs: ['weight'] }]);
    await sql`delete from recorder.validators where node = 'digits'`;
  });

  it('require a recorded moment', async () => {
    const validators = datasetOf('node_validators');
    const query = validateParameters(differencesParameters(validators), { from: '2001-01-01' });
    await expect(readDifferences(sql, validators, query)).rejects.toThrow('there is no record of validators');
    expect(
      validateParameters(differencesParameters(validators), {
        from: '2026-01-01T00:00:00.000001Z',
        to: '2026-01-01 02:00:00.000002+02:00',
      }),
      'a microsecond apart',
    ).toBeDefined();
    expect(() =>
      validateParameters(differencesParameters(validators), {
        from: '2026-01-01',
        to: '2026-01-01T01:00+01:00',
      }),
    ).toThrow(InvalidRequestError);
    expect(() => validateParameters(differencesParameters(validators), { as_of: '2026-01-01' })).toThrow(
      /^from is required; as_of is not a known parameter: changes are queried between two moments/,
    );
  });
});

describe('coverage', () => {
  it('by day sums to the ranges, and contains every reason', async () => {
    let gaps = 0;
    for (const one of catalogue.datasets.values()) {
      const [bounds] = await sql<{ from: string; to: string }[]>`
        select min(range_start)::text as from, max(range_end)::text as to
        from (select * from reporting.coverage union all select * from reporting.gaps) c
        where dataset = ${one.name} and range_start > now() - interval '1000 days'`;
      if (!bounds?.from) continue;
      const window = { from: bounds.from.replace('+00', 'Z'), to: bounds.to.replace('+00', 'Z') };
      const { days } = await readCoverage(
        sql,
        one,
        validateParameters(coverageParameters(systemClock), window),
      );
      const [sums] = await sql<{ covered: number; missing: number }[]>`
        with days as (select date_trunc('day', ${window.from}::text::timestamptz at time zone 'UTC') at time zone 'UTC' as begins)
        select coalesce((select sum(1000 * extract(epoch from range_end - greatest(range_start, begins)))
            from reporting.coverage, days where dataset = ${one.name} and range_end > begins), 0)::float8 as covered,
          coalesce((select sum(1000 * extract(epoch from range_end - greatest(range_start, begins)))
            from reporting.gaps, days where dataset = ${one.name} and range_end > begins), 0)::float8 as missing`;
      const total = (of: 'covered_ms' | 'missing_ms') => days.reduce((sum, day) => sum + day[of], 0);
      // Each day is rounded to a millisecond.
      expect(Math.abs(total('covered_ms') - (sums?.covered ?? 0)), one.name).toBeLessThanOrEqual(days.length);
      expect(Math.abs(total('missing_ms') - (sums?.missing ?? 0)), one.name).toBeLessThanOrEqual(days.length);
      // The plain computation: each range with each day.
      const plain = await sql<{ day: string; covered: number; missing: number; targets: number }[]>`
        with ranges as (
          select true as recorded, * from reporting.coverage where dataset = ${one.name}
          union all select false, * from reporting.gaps where dataset = ${one.name}),
        days as (
          select d as begins, least(d + interval '1 day', ${window.to}::text::timestamptz) as ends
          from generate_series(date_trunc('day', ${window.from}::text::timestamptz), ${window.to}::text::timestamptz - interval '1 microsecond', interval '1 day') d),
        parts as (
          select d.begins, r.recorded, r.target, 1000 * extract(epoch from least(r.range_end, d.ends) - greatest(r.range_start, d.begins)) as ms
          from days d left join ranges r on r.range_start < d.ends and r.range_end > d.begins)
        select to_char(begins, 'YYYY-MM-DD') as day, round(coalesce(sum(ms) filter (where recorded), 0))::float8 as covered,
          round(coalesce(sum(ms) filter (where not recorded), 0))::float8 as missing, count(distinct target)::int as targets
        from parts group by begins order by begins`;
      expect(
        days.map(({ day, covered_ms, missing_ms, targets }) => ({
          day,
          covered: covered_ms,
          missing: missing_ms,
          targets,
        })),
        one.name,
      ).toEqual([...plain]);
      for (const { missing_ms, reasons, state } of days) {
        expect(reasons.length > 0).toBe(missing_ms > 0);
        expect(state === 'gap' || state === 'partial').toBe(missing_ms > 0);
        gaps += reasons.length;
      }
    }
    expect(gaps).toBeGreaterThan(0);
  });

  it('refuses a window that is too long, or ends before it starts', () => {
    const wrong = (window: Readonly<Record<string, string>>) => () =>
      validateParameters(
        coverageParameters(() => Date.UTC(2026, 5)),
        window,
      );
    expect(wrong({ from: '2020-01-01' })).toThrow('from must be at most 1100 days before the end');
    expect(wrong({ from: '2026-02-01', to: '2026-01-01' })).toThrow('from must be before the end');
    expect(wrong({ as_of: '2026-01-01' })).toThrow(InvalidRequestError);
  });
});

describe('a series', () => {
  const points = datasetOf('metric_points');
  const source = findSeriesSource(points);
  if (!source) throw new Error('metric points are a series');
  const series = (parameters: Readonly<Record<string, string>>) =>
    readSeries(sql, points, source, validateParameters(seriesParameters(source), parameters));
  let one: Record<string, string>;
  beforeAll(async () => {
    const [largest] = await sql<Record<string, string>[]>`
      select chain_id, metric, time_interval from reporting.metric_points
      group by chain_id, metric, time_interval order by count(*) desc limit 1`;
    one = { ...largest };
  });

  it('has all points within the limit', async () => {
    const { rows } = await readRows(
      sql,
      points.now,
      validateParameters(rowsParameters(points.now), {
        ...one,
        sort: 'bucket_start',
        limit: '1000',
      }),
    );
    const { points: drawn, of, thinned } = await series({ ...one, buckets: '5000' });
    expect(drawn).toEqual(rows.map(({ bucket_start, value }) => [bucket_start, value]));
    expect({ of, thinned }).toEqual({ of: rows.length, thinned: false });
    expect(rows.length).toBeGreaterThan(15);
  });

  it('keeps the extremes, the ends, and only true points when it is downsampled', async () => {
    const all = await series({ ...one, buckets: '5000' });
    for (const buckets of [1, 2, 3]) {
      const few = await series({ ...one, buckets: String(buckets) });
      expect(few.points.length).toBeLessThanOrEqual(4 * buckets);
      expect(few).toMatchObject({ of: all.of, thinned: true });
      const values = (of: typeof all) => of.points.map(([, value]) => Number(value));
      expect(Math.max(...values(few))).toBe(Math.max(...values(all)));
      expect(Math.min(...values(few))).toBe(Math.min(...values(all)));
      expect([few.points[0], few.points.at(-1)]).toEqual([all.points[0], all.points.at(-1)]);
      const allPoints = new Set(all.points.map((point) => JSON.stringify(point)));
      expect(few.points.filter((point) => !allPoints.has(JSON.stringify(point)))).toEqual([]);
    }
  });

  it('has one object only, at one moment', async () => {
    expect(() => validateParameters(seriesParameters(source), { metric: 'txCount' })).toThrow(
      /^chain_id is required: .*; time_interval is required/,
    );
    const balances = findSeriesSource(datasetOf('primary_balances'));
    if (!balances) throw new Error('balances are numbers over time');
    const pins = Object.fromEntries(balances.needed.map((name) => [name, 'x']));
    const { shared_with_chain_id: _, ...others } = pins;
    const validate = (shared: string) => () =>
      validateParameters(seriesParameters(balances), {
        ...others,
        column: 'amount',
        'shared_with_chain_id.null': shared,
      });
    expect(validate('true')).not.toThrow();
    expect(validate('false')).toThrow(/^shared_with_chain_id is required/);
    const when = (await moments(points)).at(-1) ?? '';
    const then = await series({ ...one, as_of: when });
    const [counted] = await sql<{ count: number }[]>`
      select count(*)::int from reporting.metric_points_as_of(${when}::text::timestamptz)
      where (chain_id, metric, time_interval) = (${one.chain_id ?? ''}, ${one.metric ?? ''}, ${one.time_interval ?? ''})`;
    expect(then.of).toBe(counted?.count);
  });

  it.each([
    { name: 'node_validators', column: 'weight', ends: 'valid_to', open: 'valid_to.null' },
    { name: 'node_health', column: 'probes', ends: 'ended_at', open: 'is_open' },
  ])(
    'of versions of $name returns at a moment no end that came later',
    async ({ name, column, ends, open }) => {
      const one = datasetOf(name);
      const from = findSeriesSource(one);
      if (!from) throw new Error(`${name} has numbers over time`);
      const key = from.needed.map((needed) => `'${needed}', ${needed}`).join(', ');
      const [ended] = await sql.unsafe<{ then: string; key: Record<string, string | null> }[]>(
        `select (${ends} - interval '1 microsecond')::text as then, jsonb_build_object(${key}) as key
      from reporting.${from.relation.name} where ${ends} < now() - interval '1 minute' order by ${ends} limit 1`,
      );
      const pins = Object.entries(ended?.key ?? {}).map(([part, value]) =>
        value === null ? [`${part}.null`, 'true'] : [part, value],
      );
      const then = { ...Object.fromEntries(pins), as_of: ended?.then.replace('+00', 'Z') ?? '' };
      const countPoints = async (parameters: Readonly<Record<string, string>>) => {
        const query = validateParameters(seriesParameters(from), { ...then, column, ...parameters });
        return (await readSeries(sql, one, from, query)).of;
      };
      const expected = name === 'node_health' ? 0 : 1; // the number of earlier polls is not kept
      expect(await countPoints({})).toBe(expected);
      expect(await countPoints({ [open]: 'true' })).toBe(expected);
      expect(await countPoints({ [open]: 'false' })).toBe(0);
      expect(await countPoints({ time: ends, from: then.as_of })).toBe(0);
    },
  );

  it('can be made of every numeric column of every dataset', async () => {
    const drawn: string[] = [];
    for (const each of catalogue.datasets.values()) {
      const from = findSeriesSource(each);
      if (!from) continue;
      const { rows } = await readRows(
        sql,
        from.relation,
        validateParameters(rowsParameters(from.relation), { limit: '1' }),
      );
      const [row] = rows;
      if (!row) continue;
      const pins = Object.fromEntries(
        from.needed.map((name) =>
          row[name] === null ? [`${name}.null`, 'true'] : [name, String(row[name])],
        ),
      );
      for (const { name } of from.values) {
        const { of } = await readSeries(
          sql,
          each,
          from,
          validateParameters(seriesParameters(from), { ...pins, column: name }),
        );
        if (of > 0) drawn.push(`${each.name}.${name}`);
      }
    }
    expect(drawn.length).toBeGreaterThan(30);
    expect(drawn).toEqual(
      expect.arrayContaining([
        'metric_points.value',
        'current_supply.supply',
        'validators.weight',
        'x_transactions.block_height',
      ]),
    );
  });
});
