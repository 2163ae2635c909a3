import { expect } from 'vitest';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
/** The settled end of the ledger, in hours; some intervals start later. */
const SETTLED = 60;
const at = (hour: number) => new Date(START + hour * HOUR);

const { it, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC' } });

const random = createRandom(20_261_122);
const randomBelow = (limit: number) => Math.floor(random() * limit);
const pickRandom = <T>(...values: readonly T[]) => values[randomBelow(values.length)];

/**
 * Intervals of a probe or check, one after the other at whole hours, with occasional holes; the last one may be open.
 */
function createIntervals(key: Readonly<Record<string, string>>) {
  const rows: Readonly<Record<string, unknown>>[] = [];
  const isWholeProbe = key.check_name === '*';
  for (let hour = randomBelow(5); hour < SETTLED + 5; ) {
    const duration = 1 + randomBelow(8);
    const open = hour + duration >= SETTLED && random() < 0.7;
    const state = isWholeProbe
      ? pickRandom('up', 'up', 'down', 'unknown', 'maintenance')
      : pickRandom('up', 'down');
    const error = state === 'up' ? null : `${state} since ${hour}`;
    rows.push({
      ...key,
      state,
      error,
      message: isWholeProbe ? null : { hour },
      started_at: at(hour),
      ended_at: open ? null : at(hour + duration),
      reported: isWholeProbe ? random() < 0.7 : true,
      probes: open ? null : duration,
      failing_since: isWholeProbe ? null : at(hour - 1),
      failures: open ? null : randomBelow(9),
      last_error: open ? null : pickRandom(null, 'with another message'),
      last_message: open ? null : pickRandom(null, { other: hour }),
    });
    if (open) break;
    hour += duration + (random() < 0.1 ? 2 : 0);
  }
  return rows;
}

it('returns the ledger interval that contains a moment, also for unobserved and announced times', async () => {
  const observers = ['paris', 'rome'];
  for (const observer of observers) {
    const refusedRows = [{ node: 'b', probe: 'health', since: at(SETTLED - 20), reason: 'a bad row' }];
    await sql`insert into recorder.health_observers (observer, heartbeat_at, refused)
      values (${observer}, ${at(SETTLED)}, ${observer === 'rome' ? sql.json(refusedRows.map((one) => ({ ...one, since: one.since.toISOString() }))) : null})`;
    for (let hour = 3; hour < SETTLED; hour += 5 + randomBelow(9))
      await sql`insert into recorder.health_absences (observer, started_at, ended_at, reason)
        values (${observer}, ${at(hour)}, ${at(Math.min(SETTLED, hour + 1 + randomBelow(4)))}, 'the recorder was off')`;
    for (const node of ['a', 'b', 'c'])
      for (const probe of ['health', 'readiness', 'liveness:disk']) {
        await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at, latest)
          values (${observer}, ${node}, ${probe}, 99, ${at(SETTLED)}, ${sql.json({ '*': { error: 'at last' }, disk: { error: 'at last', message: { full: 1 }, failures: 7 } })})`;
        for (const check_name of ['*', 'disk', 'network'])
          for (const row of createIntervals({ observer, node, probe, check_name }))
            await sql`insert into recorder.node_health ${sql(row)}`;
      }
  }
  const moments = Array.from({ length: (SETTLED + 12) * 2 }, (_, half) => at(half / 2 - 2));
  const [comparison] = await sql<{ rows: number; hidden: number; differences: unknown }[]>`
    with moments as (
      select m + shift * interval '1 microsecond' as moment from unnest(${moments.map((one) => one.toISOString())}::timestamptz[]) m, (values (0), (-1)) s(shift)
    ),
    returned as (select m.moment, t.* from moments m, reporting_internal.node_health_history_at(m.moment) t),
    -- The plain way: the intervals that hold.
    plain as (
      select m.moment, i.observer, i.node, i.probe, i.check_name, i.state, i.error, i.message, i.last_error, i.last_message, i.failing_since,
        i.failures
      from moments m join reporting.node_health_history i on i.started_at <= m.moment and (i.is_open or i.ended_at > m.moment)
    )
    select (select count(*)::int from returned) as rows,
      (select count(*)::int from returned where check_name <> '*' and state in ('unknown', 'maintenance')) as hidden,
      (select jsonb_agg(to_jsonb(w)) from (
        (select 'returned' as by, * from (select * from returned except all select * from plain) a)
        union all (select 'plain', * from (select * from plain except all select * from returned) b) limit 5) w) as differences`;
  expect(comparison?.differences).toBeNull();
  expect(comparison?.rows).toBeGreaterThan(5_000);
  expect(comparison?.hidden).toBeGreaterThan(1_000);
});
