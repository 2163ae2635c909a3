import { describe, expect } from 'vitest';
import { readRecentChanges } from '../../../src/reporting/reports/recent-changes.ts';
import { withDatabase } from '../../support/fixture.ts';
import { makeSeriesOf } from '../../support/points.ts';

const { it, sql } = withDatabase({ max: 1 });

const now = Date.now();
/** Returns a moment as PostgreSQL text. */
const ago = (days: number) => new Date(now - days * 86_400_000);

describe('the recent changes', () => {
  it('are empty in an empty record', async () => {
    expect(await readRecentChanges(sql)).toEqual({ departures: [], revisions: [], outages: [] });
  });

  it('include a validator that left, once, by the nodes that report it, without reading those who stay', async () => {
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, tx_id, end_time, weight, valid_from, valid_to, ended_by, run_id)
      select node, 's', 'v' || n, ${ago(100)}, 't' || n, case n when 2 then ${ago(2)}::timestamptz else ${ago(-100)} end, n * 10,
        ${ago(50)}, case when n <= 3 then ${ago(1)}::timestamptz when n < 10 then ${ago(20)} end,
        case when n < 3 then 'gone' when n = 3 then 'unwatched' when n < 10 then 'gone' end, 1
      from generate_series(1, 5000) n, unnest(array['a', 'b']) node where n <> 1 or node = 'a'`;
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, tx_id, weight, valid_from, run_id)
      values ('a', 's', 'joined', ${ago(1)}, 't', 1, ${ago(1)}, 1)`;
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, validation_id, weight, valid_from, valid_to, ended_by, run_id)
      values ('a', 'l1', 'endless', ${ago(100)}, 'v', 1, ${ago(50)}, ${ago(2)}, 'gone', 1)`;
    await sql`analyze recorder.validators`;
    const { departures } = await readRecentChanges(sql);
    expect(departures).toMatchObject([
      { node_id: 'v1', weight: '10', expired: false, reported_by: ['a'] },
      { node_id: 'v2', weight: '20', expired: true, reported_by: ['a', 'b'] },
      { node_id: 'endless', weight: '1', expired: null, reported_by: ['a'] },
    ]);
    const plan = await sql`
      explain select at from reporting.node_validators_changes where change = 'left' and at > now() - interval '7 days'
      order by at desc limit 200`;
    expect(JSON.stringify(plan)).toContain('validators_gone');
    expect(JSON.stringify(plan)).not.toContain('Seq Scan');
  });

  it('include a past day that moved by more than 1 %, and no unfinished day', async () => {
    await makeSeriesOf(sql);
    const target = 'chainId=1 metric=txCount timeInterval=day';
    await sql`insert into recorder.targets (source, target_key, target) values ('m', ${target}, '{}')`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('m', ${target}, 'metric_points', 3600000, true, ${ago(60)})`;
    const day = (days: number) => new Date(Math.floor(ago(days).getTime() / 86_400_000) * 86_400_000);
    const insertVersions = async (
      bucket: Date,
      values: readonly (readonly [value: number, days: number])[],
      endedDaysAgo?: number,
    ) => {
      for (const [place, [value, days]] of values.entries()) {
        const next = values[place + 1]?.[1] ?? endedDaysAgo;
        await sql`
          insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, vanished, run_id)
          values (public.series_of('1', 'txCount', 'day'), ${bucket}, ${value}, ${ago(days)}, ${next === undefined ? null : ago(next)}, false, 1)`;
      }
    };
    await insertVersions(day(10), [
      [1000, 8],
      [1020, 3],
    ]);
    await insertVersions(day(12), [
      [1000, 8],
      [1009, 3],
    ]);
    // Reported while it ran, and again after it.
    await insertVersions(day(4), [
      [500, 4],
      [1000, 2],
    ]);
    await insertVersions(day(25), [
      [1000, 20],
      [2000, 15],
    ]);
    // Removed for longer than the week, and back with another value.
    await insertVersions(day(13), [[1000, 12]], 10);
    await insertVersions(day(13), [[1100, 2]]);
    // This one returned unchanged.
    await insertVersions(day(14), [[1000, 12]], 10);
    await insertVersions(day(14), [[1000, 2]]);
    const { revisions } = await readRecentChanges(sql);
    expect(revisions).toMatchObject([
      { chain_id: '1', metric: 'txCount', bucket_start: day(13), before: '1000', after: '1100', share: 0.1 },
      { chain_id: '1', metric: 'txCount', bucket_start: day(10), before: '1000', after: '1020', share: 0.02 },
    ]);
  });

  it('include a node that went down, with its time, count and last reason, whatever its messages were', async () => {
    const key = { observer: 'o', node: 'n', probe: 'health', check_name: '*' };
    await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('o', now())`;
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('o', 'n', 'health', 9, now())`;
    for (const [state, error, from, to] of [
      ['up', null, 30, 5],
      ['down', 'it does not answer', 5, 4.9],
      ['up', null, 4.9, 2],
      ['down', 'it does not answer', 2, 1.9],
      ['down', 'failing: C, P', 1.9, 1.8],
      ['down', 'failing: C', 1.8, 1.7],
      ['up', null, 1.7, null],
    ] as const)
      await sql`insert into recorder.node_health ${sql({ ...key, state, error, started_at: ago(from), ended_at: to === null ? null : ago(to) })}`;
    await sql`insert into recorder.health_absences values ('o', ${ago(1.85)}, ${ago(1.75)}, 'off')`;
    expect((await readRecentChanges(sql)).outages).toEqual([
      {
        node: 'n',
        started_at: ago(2),
        ended_at: ago(1.7),
        down_seconds: expect.closeTo(0.2 * 86_400, 1),
        error: 'failing: C',
        times: 2,
      },
    ]);
  });

  it('include a node that has been down for longer than the week, if it was observed in the week', async () => {
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('o', 'long', 'health', 9, now())`;
    await sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at)
      values ('o', 'long', 'health', '*', 'down', 'it does not answer', ${ago(9)}),
        ('stopped', 'unobserved', 'health', '*', 'down', 'it does not answer', ${ago(9)})`;
    await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('stopped', ${ago(8)})`;
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('stopped', 'unobserved', 'health', 9, ${ago(8)})`;
    expect((await readRecentChanges(sql)).outages).toMatchObject([
      { node: 'long', started_at: ago(9), ended_at: null, times: 1 },
      { node: 'n' },
    ]);
  });

  it('claim no node to be down whose observer stopped since', async () => {
    await sql`update recorder.health_observers set heartbeat_at = ${ago(3)} where observer = 'stopped'`;
    const { outages } = await readRecentChanges(sql);
    expect(outages.find(({ node }) => node === 'unobserved')).toMatchObject({
      started_at: ago(9),
      ended_at: ago(3),
    });
    expect(outages[0]).toMatchObject({ node: 'long', ended_at: null });
  });
});
