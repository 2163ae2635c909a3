import { afterAll, beforeEach, describe, expect } from 'vitest';
import { encodeSlots } from '../../src/health/latency-entries.ts';
import { findBucket } from '../../src/health/latency-histogram.ts';
import { storeHours } from '../../src/health/latency-store.ts';
import { metricParts, scrapeFamilies } from '../../src/server/metrics/metrics.ts';
import { ProcessCounts } from '../../src/server/metrics/process-counts.ts';
import { withDatabase } from '../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../support/page-server.ts';
import { noPromtool, promtool, promtoolPath } from '../support/promtool.ts';

const { it, database, sql } = withDatabase({ max: 4 });
let server: PageServer;
let counts: ProcessCounts;
const warnings: object[] = [];

beforeEach(async () => {
  await sql`truncate recorder.targets, recorder.target_datasets, recorder.health_observers, recorder.health_probes,
    recorder.node_health, recorder.health_latency, recorder.queues, recorder.budgets, recorder.quarantine`;
  counts = new ProcessCounts(() => 3);
  warnings.length = 0;
  await restartServer();
});
afterAll(async () => {
  await server.close();
});

/** A server without cached values of the previous test. */
async function restartServer(): Promise<void> {
  await server?.close();
  const budget = { perMinute: 100, perDay: 1000 };
  server = await servePagesOf(database.url, {
    counts,
    log: { warn: (...entry: unknown[]) => warnings.push(entry) },
    budgets: [{ upstream: 'chainData', endpoint: 'e' }],
    upstreams: { chainData: { url: 'http://one.example', timeout: 1000, budget }, nodes: [] },
  });
}

const scrape = async () => (await sendRequest(`${server.address}/metrics`)).body;
/** The samples of a metric, as `labels value`, in order. */
const samplesOf = (page: string, name: string) =>
  page.split('\n').flatMap((line) => {
    const [, labels = '', value] = line.match(/^([^# ][^{ ]*(?:\{.*\})?) (\S+)$/) ?? [];
    return labels === name || labels.startsWith(`${name}{`) ? [`${labels.slice(name.length)} ${value}`] : [];
  });

interface Probe {
  readonly node: string;
  readonly probe?: string;
  readonly observer?: string;
  readonly active?: boolean;
  readonly state: string | null;
  readonly reported?: boolean;
  readonly checks?: Readonly<Record<string, string>>;
}

/** A watched probe, and its current ledger. */
async function addWatched(...probes: readonly Probe[]): Promise<void> {
  for (const { node, probe = 'health', observer = 'eyes', active = true, ...one } of probes) {
    const key = `node=${node} observer=${observer} probe=${probe}`;
    await sql`insert into recorder.targets (source, target_key, target)
      values ('node_health', ${key}, ${sql.json({ node, observer, probe })})`;
    await sql`insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('node_health', ${key}, 'node_health', 60000, ${active}, now() - interval '1 hour')`;
    await sql`insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
      values (${observer}, 'me', now() + interval '1 minute', now() - interval '3 seconds') on conflict do nothing`;
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at)
      values (${observer}, ${node}, ${probe}, 7, '2026-03-01T00:00:00Z')`;
    const states = { ...(one.state === null ? {} : { '*': one.state }), ...one.checks };
    await sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, reported, started_at, probes_before)
      select ${observer}, ${node}, ${probe}, u.check_name, u.state, ${one.reported ?? true}, '2026-02-01T00:00:00Z', 0
      from unnest(${Object.keys(states)}::text[], ${Object.values(states)}::text[]) as u(check_name, state)`;
  }
}

describe('node_up', () => {
  it('is 1 or 0 if the state is known, and has no sample otherwise', async () => {
    await addWatched(
      { node: 'a', state: 'up' },
      { node: 'a', probe: 'readiness', state: 'down' },
      { node: 'a', probe: 'health:subnet', state: 'down' },
      { node: 'b', state: 'down' },
      { node: 'c', state: 'unknown', reported: false },
      { node: 'd', state: 'maintenance' },
      { node: 'e', state: 'down', active: false },
      { node: 'f', state: null },
    );
    const page = await scrape();
    expect(samplesOf(page, 'node_up')).toEqual([
      '{node="a",probe="health"} 1',
      '{node="a",probe="readiness"} 0',
      '{node="b",probe="health"} 0',
    ]);
    const states = samplesOf(page, 'chain_recorder_node_state').filter((one) => one.endsWith(' 1'));
    expect(states).toEqual([
      '{observer="eyes",node="a",probe="health",state="up"} 1',
      '{observer="eyes",node="a",probe="health:subnet",state="down"} 1',
      '{observer="eyes",node="a",probe="readiness",state="down"} 1',
      '{observer="eyes",node="b",probe="health",state="down"} 1',
      '{observer="eyes",node="c",probe="health",state="unknown"} 1',
      '{observer="eyes",node="d",probe="health",state="maintenance"} 1',
      '{observer="eyes",node="f",probe="health",state="unknown"} 1',
    ]);
    expect(samplesOf(page, 'chain_recorder_node_probes_total')[0]).toBe(
      '{observer="eyes",node="a",probe="health"} 7',
    );
  });

  it('has no sample once no observer probes any more', async () => {
    await addWatched({ node: 'a', state: 'up', checks: { P: 'up' } });
    await sql`update recorder.health_observers set lease_until = now() - interval '1 second'`;
    const page = await scrape();
    expect(samplesOf(page, 'node_up')).toEqual([]);
    expect(samplesOf(page, 'chain_recorder_node_check_up')).toEqual([]);
    expect(page).toContain(
      'chain_recorder_node_state{observer="eyes",node="a",probe="health",state="unknown"} 1',
    );
    expect(page).toContain('chain_recorder_ledger_active{observer="eyes"} 0');
  });

  it('is the majority of the observers', async () => {
    await addWatched(
      { node: 'a', state: 'down', observer: 'one' },
      { node: 'a', state: 'up', observer: 'two' },
      { node: 'a', state: 'up', observer: 'three' },
    );
    expect(samplesOf(await scrape(), 'node_up')).toEqual(['{node="a",probe="health"} 1']);
  });
});

describe('the checks of a node', () => {
  it('are reported by name while the node responds', async () => {
    await addWatched(
      { node: 'a', state: 'down', checks: { P: 'up', 'X "q" \\ \n': 'down' } },
      { node: 'b', state: 'down', reported: false, checks: { P: 'up' } },
      { node: 'c', state: 'maintenance', checks: { P: 'down' } },
    );
    const page = await scrape();
    expect(samplesOf(page, 'chain_recorder_node_check_up')).toEqual([
      '{observer="eyes",node="a",probe="health",check="P"} 1',
      '{observer="eyes",node="a",probe="health",check="X \\"q\\" \\\\ \\n"} 0',
    ]);
    const some = samplesOf(page, 'chain_recorder_node_checks').filter((one) => !one.endsWith(' 0'));
    expect(some).toEqual([
      '{observer="eyes",node="a",probe="health",state="up"} 1',
      '{observer="eyes",node="a",probe="health",state="down"} 1',
      '{observer="eyes",node="b",probe="health",state="unknown"} 1',
      '{observer="eyes",node="c",probe="health",state="maintenance"} 1',
    ]);
  });

  it('have a bounded number of series, whatever the node returns, and all are counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`check ${at}`, 'up']));
    await addWatched({ node: 'a', state: 'up', checks: { ...many, [` ${'x'.repeat(900)}`]: 'down' } });
    const page = await scrape();
    expect(samplesOf(page, 'chain_recorder_node_check_up')).toHaveLength(100);
    expect(page).not.toContain('xxx');
    expect(page).toContain(
      'chain_recorder_node_checks{observer="eyes",node="a",probe="health",state="up"} 5000',
    );
    expect(page).toContain(
      'chain_recorder_node_checks{observer="eyes",node="a",probe="health",state="down"} 1',
    );
  });
});

describe('response times', () => {
  const HOUR = 3_600_000;
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  const storeTimes = (start: number, times: readonly number[]) => {
    const histogram = new Map(
      times.map((time) => [findBucket(time), times.filter((one) => one === time).length]),
    );
    return sql`update recorder.health_probes set hour = ${new Date(start)},
      entries = ${encodeSlots(new Map([[0, histogram]]))}`;
  };
  const numberOf = (name: string, page: string) =>
    Number(samplesOf(page, `chain_recorder_node_response_time_seconds_${name}`)[0]?.split(' ').at(-1));

  it('are those of the month, including the current hour, in ascending buckets', async () => {
    await addWatched({ node: 'a', state: 'up' });
    expect(samplesOf(await scrape(), 'chain_recorder_node_response_time_seconds_count')).toEqual([]);
    // The first hour of a month has no previous hour in it.
    await storeHours(
      sql,
      'eyes',
      [{ node: 'a', probe: 'health', hour, histogram: new Map([[findBucket(40), 3]]) }],
      hour,
    );
    await storeTimes(hour, [40, 900]);
    await restartServer();
    const page = await scrape();
    expect(numberOf('count', page)).toBe(5);
    expect(Math.abs(numberOf('sum', page) - 1.06) / 1.06).toBeLessThanOrEqual(0.05);
    const buckets = samplesOf(page, 'chain_recorder_node_response_time_seconds_bucket').map((one) => ({
      le: Number(one.match(/le="([^"]+)"/)?.[1]?.replace('+Inf', 'Infinity')),
      count: Number(one.split(' ').at(-1)),
    }));
    expect(buckets.map(({ le }) => le)).toEqual(buckets.map(({ le }) => le).toSorted((a, b) => a - b));
    for (const { le, count } of buckets) expect(count, String(le)).toBe(le < 0.04 ? 0 : le < 0.9 ? 4 : 5);
  });

  it('never decrease, also while an hour becomes part of its day', async () => {
    await addWatched({ node: 'a', state: 'up' });
    await storeTimes(hour, [40, 40, 40, 900]);
    const counts = async () => samplesOf(await scrape(), 'chain_recorder_node_response_time_seconds_count');
    const of = (node: string, count: number) => `{observer="eyes",node="${node}",probe="health"} ${count}`;
    await expect.poll(counts).toEqual([of('a', 4)]);
    // The next hour is counted before the last one is part of its day; the value of b shows that it was read then.
    await addWatched({ node: 'b', state: 'up' });
    await storeTimes(hour, [900]);
    await expect.poll(counts).toEqual([of('a', 4), of('b', 1)]);
    const histogram = new Map([
      [findBucket(40), 3],
      [findBucket(900), 1],
    ]);
    await storeHours(sql, 'eyes', [{ node: 'a', probe: 'health', hour, histogram }], hour);
    await expect.poll(counts).toEqual([of('a', 5), of('b', 1)]);
  });
});

describe('other metrics', () => {
  it('count what this process did, by names of the configuration', async () => {
    counts.call('nodes/a', 200, 0.02);
    counts.call('nodes/a', 503, 0.3);
    counts.call('nodes/a', 'timeout', 30);
    counts.run({ feed: 'subnets', status: 'done' });
    counts.run({ feed: 'subnets', status: 'done' });
    const page = await scrape();
    expect(samplesOf(page, 'chain_recorder_upstream_calls_total')).toEqual([
      '{upstream="nodes/a",status="200"} 1',
      '{upstream="nodes/a",status="503"} 1',
      '{upstream="nodes/a",status="timeout"} 1',
    ]);
    expect(samplesOf(page, 'chain_recorder_runs_total')).toEqual(['{feed="subnets",status="done"} 2']);
    expect(samplesOf(page, 'chain_recorder_log_lines_dropped_total')).toEqual([' 3']);
    const buckets = samplesOf(page, 'chain_recorder_upstream_call_duration_seconds_bucket');
    expect(buckets).toContain('{upstream="nodes/a",le="0.025"} 1');
    expect(buckets).toContain('{upstream="nodes/a",le="0.5"} 2');
    expect(buckets).toContain('{upstream="nodes/a",le="+Inf"} 3');
    expect(samplesOf(page, 'chain_recorder_build_info')).toEqual([
      expect.stringMatching(/^\{version="\d+\.\d+\.\d+[^"]*",node_version="\d+\.\d+\.\d+"\} 1$/),
    ]);
  });

  it('have the remaining budget: all of it on the next day', async () => {
    const spent = (days: number) => sql`
      insert into recorder.budgets (upstream, endpoint, minute, minute_units, day, day_units)
      values ('chainData', 'e', now() - interval '10 minutes', 90, (now() at time zone 'UTC')::date - ${days}::int, 400)
      on conflict (upstream, endpoint) do update set day = excluded.day`;
    await spent(0);
    expect(samplesOf(await scrape(), 'chain_recorder_budget_remaining_units')).toEqual([
      '{upstream="chainData",window="minute"} 100',
      '{upstream="chainData",window="day"} 600',
    ]);
    await spent(1);
    await expect
      .poll(async () => samplesOf(await scrape(), 'chain_recorder_budget_remaining_units').at(-1))
      .toBe('{upstream="chainData",window="day"} 1000');
  });

  it('have the depth of the queues, and counters of rows never decrease', async () => {
    await sql`insert into recorder.queues (recorder, queue, waiting, active, seen_at) values ('recorder', 'polls', 3, 2, now())`;
    await sql`insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, items, rows_written)
      values ('subnets', 'a', 'subnets', 60000, true, now(), 9, 5), ('subnets', 'left', 'subnets', 60000, false, now(), 3, 2)`;
    const page = await scrape();
    expect(samplesOf(page, 'chain_recorder_queue_jobs')).toEqual([
      '{recorder="recorder",queue="polls",state="waiting"} 3',
      '{recorder="recorder",queue="polls",state="active"} 2',
    ]);
    expect(samplesOf(page, 'chain_recorder_rows_total')).toEqual(['{dataset="subnets"} 7']);
    expect(samplesOf(page, 'chain_recorder_items_total')).toEqual(['{dataset="subnets"} 12']);
    expect(Number(samplesOf(page, 'chain_recorder_database_size_bytes')[0])).toBeGreaterThan(1_000_000);
  });
});

it('affect no others if a part cannot be read, which is reported once', async () => {
  await addWatched({ node: 'a', state: 'up' });
  await sql`alter view reporting_internal.node_latency_spans rename to away`;
  try {
    const pages = [await scrape(), await scrape()];
    for (const page of pages) {
      const parts = samplesOf(page, 'chain_recorder_scrape_collector_success');
      expect(parts).toHaveLength(metricParts.length);
      expect(parts.filter((one) => !one.endsWith(' 1'))).toEqual(['{collector="response_times"} 0']);
      expect(samplesOf(page, 'node_up')).toEqual(['{node="a",probe="health"} 1']);
    }
    expect(warnings).toEqual([
      [
        { causes: { response_times: expect.stringContaining('node_latency_spans') } },
        'some metrics cannot be read',
      ],
    ]);
  } finally {
    await sql`alter view reporting_internal.away rename to node_latency_spans`;
  }
});

it('have no samples of probes beyond the limit, which is reported; the others are complete', async () => {
  await sql`
      insert into recorder.targets (source, target_key, target)
      select 'node-health', n::text, jsonb_build_object('observer', 'paris', 'node', n::text, 'probe', 'health') from generate_series(1, 30001) n`;
  await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      select 'node-health', n::text, 'node_health', 15000, true, now() from generate_series(1, 30001) n`;
  await sql`analyze recorder.targets, recorder.target_datasets`;
  const page = await scrape();
  expect(samplesOf(page, 'chain_recorder_scrape_collector_success')).toEqual(
    expect.arrayContaining([
      '{collector="nodes"} 0',
      '{collector="response_times"} 0',
      '{collector="queues"} 1',
    ]),
  );
  expect(samplesOf(page, 'chain_recorder_node_state')).toEqual([]);
  expect(warnings).toEqual([
    [
      expect.objectContaining({
        causes: expect.objectContaining({ nodes: expect.stringContaining('30001 probes exceed') }),
      }),
      'some metrics cannot be read',
    ],
  ]);
});

describe('the exposition', () => {
  it('contains only declared metrics', async () => {
    await addWatched({ node: 'a', state: 'up', checks: { P: 'up' } });
    const declared = [...scrapeFamilies, ...metricParts.flatMap(({ families }) => families)];
    expect(new Set(declared.map(({ name }) => name)).size).toBe(declared.length);
    const exposedTypes = [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
      .map(([, name, type]) => `${name} ${type}`)
      .filter((one) => !/^(process|nodejs)_/.test(one));
    const declaredTypes = new Set(declared.map(({ name, type }) => `${name} ${type}`));
    expect(exposedTypes.length).toBeGreaterThan(20);
    expect(exposedTypes.filter((one) => !declaredTypes.has(one))).toEqual([]);
  });

  it.skipIf(!promtoolPath)(`is accepted by promtool${noPromtool}`, async () => {
    await addWatched({ node: 'a', state: 'down', checks: { P: 'up', 'X "q" \\ \n': 'down' } });
    await sql`update recorder.health_probes set hour = date_trunc('hour', now()), entries = ${encodeSlots(new Map([[0, new Map([[50, 2]])]]))}`;
    counts.call('nodes/a', 200, 0.02);
    counts.run({ feed: 'subnets', status: 'done' });
    const { output } = await promtool(['check', 'metrics'], { input: await scrape() });
    // prom-client's own metrics of the process have three names that the linter objects to.
    const objections = output.split('\n').filter((one) => one !== '' && !/^nodejs_\w+_total /.test(one));
    expect(objections).toEqual([]);
    const broken = await promtool(['check', 'metrics'], { input: 'chain_recorder_x{ 1\n' });
    expect(broken).toMatchObject({ code: 1, output: expect.stringContaining('error') });
  });
});
