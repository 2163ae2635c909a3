import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { openSealConnection } from '../../../src/db/client.ts';
import { closeDays } from '../../../src/recording/close-days.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, database } = withDatabase();
let sql: postgres.Sql;
const never = new AbortController().signal;
const closingTime = Date.UTC(2026, 2, 1);

beforeAll(async () => {
  sql = openSealConnection(database.url, 60_000);
});
afterEach(async () => {
  await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_open, recorder.reading_observations,
    recorder.reading_days, recorder.reading_kept, recorder.validator_uptime, recorder.peer_readings,
    recorder.native_balance_values, recorder.current_supply`;
});
afterAll(async () => {
  await sql.end();
});

/** All readings of a dataset as texts, so that the digits count. */
async function selectReadings(dataset: string): Promise<string[]> {
  const rows = await sql.unsafe<{ row: string }[]>(
    `select to_json(array(select value from json_each_text(row_to_json(r)) order by key))::text as row
    from (select * from reporting.${dataset}) r`,
  );
  return rows.map(({ row }) => row).sort();
}

/** The averages by day, from each reading. */
const AVERAGES = `
  select node, subnet_id, node_id, (observed_at at time zone 'UTC')::date as day, count(uptime) as uptime_readings,
    round(avg(uptime), 12) as uptime_average
  from reporting.validator_uptime group by 1, 2, 3, 4`;

async function selectAverages(from: string): Promise<string[]> {
  const rows = await sql.unsafe<{ row: string }[]>(
    `select concat_ws(' ', node, subnet_id, node_id, day, uptime_readings, coalesce(uptime_average::text, 'none')) as row
    from ${from.startsWith('(') ? from : `reporting.${from}`}`,
  );
  return rows.map(({ row }) => row).sort();
}

const countRows = async (table: string) => {
  const [row] = await sql.unsafe<{ rows: number }[]>(`select count(*)::int as rows from recorder.${table}`);
  return row?.rows;
};

/** Values that have to be returned digit for digit, whether they can be packed or not. */
const decimals = fc.oneof(
  fc.integer({ min: 0, max: 1_000_000 }).map((one) => (one / 10_000).toFixed(4)),
  fc.integer({ min: 990_000, max: 990_400 }).map((one) => (one / 10_000).toFixed(4)),
  fc.integer({ min: 0, max: 100 }).map(String),
  fc.constantFrom(
    '0.5',
    '0.50',
    '-3',
    'NaN',
    '1e30',
    '1152921504606846975',
    '1152921504606846976',
    '-0.000000000000000001',
    '0.0000000000000000001',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  ),
);
const regular = fc.integer({ min: 0, max: 1_000_000 }).map((one) => (one / 10_000).toFixed(4));
const instants = fc.oneof(
  fc.integer({ min: 1_767_225_600, max: 1_767_398_400 }).map((one) => new Date(one * 1000).toISOString()),
  fc.integer({ min: 0, max: 999_999 }).map((one) => `2026-01-01T00:00:01.${String(one).padStart(6, '0')}Z`),
  fc.constantFrom(
    'infinity',
    '-infinity',
    '0044-03-15 00:00:00+00 BC',
    '12026-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999999Z',
    '2300-01-01T00:00:00.000001Z',
    '1600-01-01T00:00:00.000001Z',
    '2300-01-01T00:00:00Z',
  ),
);
/** The instants of polls: two days around midnight. */
const pollTimes = fc
  .integer({ min: 0, max: 287 })
  .map((at) => new Date(Date.UTC(2026, 0, 1) + at * 600_000 + (at % 7) * 37).toISOString());

const uptimes = (uptime: fc.Arbitrary<string>) =>
  fc.uniqueArray(
    fc.record({
      node: fc.constantFrom('validator-1', 'validator-2'),
      node_id: fc.integer({ min: 1, max: 20 }).map((one) => `NodeID-${one}`),
      observed_at: pollTimes,
      run_id: fc.integer({ min: 1, max: 3 }),
      uptime: fc.option(uptime),
      connected: fc.option(fc.boolean()),
    }),
    { selector: ({ node, node_id, observed_at }) => `${node} ${node_id} ${observed_at}`, maxLength: 150 },
  );

async function insert(rows: readonly Record<string, string | number | boolean | null>[]): Promise<void> {
  for (const row of rows)
    await sql`insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
      values (${row.node ?? null}, 'net', ${row.node_id ?? null}, ${row.uptime ?? null}, ${row.connected ?? null}, ${row.observed_at ?? null}, ${row.run_id ?? null})
      on conflict do nothing`;
}

describe('closing a day', () => {
  it('keeps every reading, digit for digit, whatever its values', async () => {
    await fc.assert(
      fc
        .asyncProperty(uptimes(fc.oneof(decimals, regular)), async (rows) => {
          await insert(rows);
          const before = await selectReadings('validator_uptime');
          const { packed, kept } = await closeDays(sql, closingTime, never);
          expect(packed + kept).toBe(rows.length);
          expect(await countRows('validator_uptime')).toBe(kept);
          expect(await selectReadings('validator_uptime')).toEqual(before);
          expect(await selectAverages('validator_uptime_daily')).toEqual(
            await selectAverages(`(${AVERAGES}) plain`),
          );
          // Remaining rows are not tried again.
          expect(await closeDays(sql, closingTime, never)).toEqual({ packed: 0, kept: 0, failed: [] });
        })
        .afterEach(async () => {
          await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_observations, recorder.reading_days,
            recorder.reading_kept, recorder.validator_uptime`;
        }),
      { numRuns: 25 },
    );
  });

  it('packs all reported uptimes of an upstream, and adds late readings to a closed day', async () => {
    await fc.assert(
      fc
        .asyncProperty(uptimes(regular), uptimes(regular), async (first, late) => {
          await insert(first);
          await closeDays(sql, closingTime, never);
          await insert(late);
          // Late readings are counted with their closed day before they are packed.
          expect(await selectAverages('validator_uptime_daily')).toEqual(
            await selectAverages(`(${AVERAGES}) plain`),
          );
          await closeDays(sql, closingTime, never);
          const rows = await countRows('validator_uptime');
          // The first value of a reading that was closed before and received again is kept.
          const expected = new Map(
            [...late, ...first].map((row) => [
              `${row.node} ${row.node_id} ${new Date(row.observed_at).toISOString()}`,
              row,
            ]),
          );
          const stored = await sql<{ key: string; uptime: string | null; connected: boolean | null }[]>`
            select node || ' ' || node_id || ' ' || to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as key, uptime::text, connected
            from reporting.validator_uptime`;
          expect(rows).toBe(0);
          expect(new Map(stored.map(({ key, uptime, connected }) => [key, { uptime, connected }]))).toEqual(
            new Map([...expected].map(([key, { uptime, connected }]) => [key, { uptime, connected }])),
          );
          expect(stored).toHaveLength(expected.size);
        })
        .afterEach(async () => {
          await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_observations, recorder.reading_days,
            recorder.reading_kept, recorder.validator_uptime`;
        }),
      { numRuns: 15 },
    );
  });

  it('keeps instants to the microsecond, before and after the poll', async () => {
    await fc.assert(
      fc
        .asyncProperty(
          fc.array(
            fc.tuple(fc.integer({ min: 1, max: 9 }), pollTimes, fc.option(instants), fc.option(instants)),
            { maxLength: 60 },
          ),
          async (rows) => {
            for (const [peer, at, sent, received] of rows)
              await sql`insert into recorder.peer_readings (node, node_id, subnet_id, last_sent, last_received, observed_uptime, observed_at, run_id)
                values ('validator-1', ${`NodeID-${peer}`}, 'net', ${sent}::text::timestamptz, ${received}::text::timestamptz, 99, ${at}::text::timestamptz, 7) on conflict do nothing`;
            const before = await selectReadings('peer_readings');
            expect(await closeDays(sql, closingTime, never)).toMatchObject({ failed: [] });
            expect(await selectReadings('peer_readings')).toEqual(before);
          },
        )
        .afterEach(async () => {
          await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_observations, recorder.reading_days,
            recorder.reading_kept, recorder.peer_readings`;
        }),
      { numRuns: 20 },
    );
  });
  it('closes a day once in two concurrent processes, and continues after each of twenty kills', async () => {
    const days = 12;
    await sql`insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
      select 'validator-1', 'net', 'NodeID-' || m, 99 + (m * p % 10000) * 0.0001, m % 3 <> 0,
        timestamptz '2026-01-01 00:00:00Z' + d * interval '1 day' + p * interval '30 min', d * 100 + p
      from generate_series(0, ${days - 1}) d, generate_series(0, 47) p, generate_series(1, 30) m`;
    const before = await selectReadings('validator_uptime');
    const kill = postgres(database.url, { max: 1, onnotice: () => {} });
    let kills = 0;
    const killBackends = async (stopped: AbortSignal) => {
      while (!stopped.aborted && kills < 20) {
        const ended = await kill`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'chain-recorder seal' and state = 'active'
            and query like '%with scope as%' limit 1`;
        kills += ended.length;
      }
    };
    const done = new AbortController();
    const killing = killBackends(done.signal);
    const otherConnection = openSealConnection(database.url, 60_000);
    const closeAllDays = async (one: postgres.Sql) => {
      for (;;) {
        const closed = await closeDays(one, closingTime, never).catch(() => null);
        if (closed?.failed.length === 0) return;
      }
    };
    await Promise.all([closeAllDays(sql), closeAllDays(otherConnection)]);
    done.abort();
    await killing;
    await Promise.all([otherConnection.end(), kill.end()]);
    expect(kills).toBeGreaterThan(0);
    expect(await countRows('validator_uptime')).toBe(0);
    expect(await selectReadings('validator_uptime')).toEqual(before);
  });

  it('closes the other days if one cannot be closed, and reports it', async () => {
    await insert([
      {
        node: 'validator-1',
        node_id: 'a',
        uptime: '99.1',
        connected: true,
        observed_at: '2026-01-01T00:00:00Z',
        run_id: 1,
      },
      {
        node: 'validator-1',
        node_id: 'a',
        uptime: '99.2',
        connected: true,
        observed_at: '2026-01-02T00:00:00Z',
        run_id: 2,
      },
    ]);
    await sql`insert into recorder.reading_scopes (dataset, request) values ('recorder.validator_uptime', array['validator-1', 'net'])`;
    await sql`create function recorder.refuse() returns trigger language plpgsql as $$ begin raise 'no space'; end $$`;
    await sql`create trigger refused before insert on recorder.reading_days for each row
      when (new.day = '2026-01-01') execute function recorder.refuse()`;
    const closed = await closeDays(sql, closingTime, never);
    await sql`drop function recorder.refuse() cascade`;
    expect(closed).toMatchObject({
      packed: 1,
      kept: 0,
      failed: [
        {
          dataset: 'validator_uptime',
          request: ['validator-1', 'net'],
          day: '2026-01-01',
          error: 'no space',
        },
      ],
    });
    expect(await closeDays(sql, closingTime, never)).toEqual({ packed: 1, kept: 0, failed: [] });
  });
});
