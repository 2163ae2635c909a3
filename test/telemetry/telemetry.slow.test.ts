import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { type Ended, startCommand } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  attributesOf,
  type OtlpReceiver,
  otlpReceiver,
  type ReceivedSpan,
} from '../support/otlp-receiver.ts';
import { upstreamServer } from '../support/upstream-server.ts';

const CANARY = 'canary-4f1c9d2e7b';
const HEADER_CANARY = 'canary-of-the-header-77aa';
const WAIT_OPTIONS = { timeout: 60_000, interval: 100 };
const JSON_OTLP = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '200' };
const cleanups: (() => Promise<unknown> | unknown)[] = [];
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false });
});
afterAll(async () => {
  for (const clean of cleanups.reverse()) await clean();
  await sandbox.close();
});

/** A directory with a configuration that polls metrics and a node every five seconds. */
function createConfigDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'recorder-otel-'));
  cleanups.push(() => rmSync(dir, { recursive: true }));
  const nodes = sandbox.watch.nodes.slice(0, 1).map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const config = {
    network: 'sandbox',
    upstreams: { metrics: { url: sandbox.url, apiKeyHeader: 'x-api-key' }, nodes },
    watch: { chains: ['43114'] },
    datasets: {
      // A page of days is the whole history, and leaves no heal; a page of hours does.
      metric_points: { every: '5s', metrics: ['txCount'], intervals: ['hour'] },
      node_health: { every: '5s' },
      average_tps: { enabled: false },
    },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
  return dir;
}

interface RecordedRun {
  readonly ended: Ended;
  readonly sql: postgres.Sql;
}

/** Runs `up` until the test has the expected records. */
async function recordUntil(
  env: NodeJS.ProcessEnv,
  waitForRecords: (sql: postgres.Sql) => Promise<void>,
): Promise<RecordedRun> {
  const database: TestDatabase = await testDatabase();
  cleanups.push(() => database.close());
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  cleanups.push(() => sql.end());
  const up = startCommand(
    ['up'],
    {
      DATABASE_URL: database.url,
      RECORDER_PORT: String(await findFreePort()),
      METRICS_API_KEY: CANARY,
      LOG_LEVEL: 'debug',
      ...env,
    },
    createConfigDirectory(),
  );
  const ended = up.ended;
  try {
    await Promise.race([
      waitForRecords(sql),
      ended.then(({ stderr }) => Promise.reject(new Error(`up ended: ${stderr}`))),
    ]);
  } finally {
    up.process.kill('SIGTERM');
  }
  return { ended: await ended, sql };
}

const waitForRuns = (sql: postgres.Sql, minimum: number, reason = 'poll') =>
  vi.waitFor(async () => {
    const [row] = await sql<{ runs: number }[]>`
      select count(*)::int as runs from reporting.runs
      where dataset = 'metric_points' and reason = ${reason} and status = 'done'`;
    expect(row?.runs ?? 0).toBeGreaterThanOrEqual(minimum);
  }, WAIT_OPTIONS);

/** The spans from the root to this one, outermost first. */
function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [...pathOf(parent, spans), span] : [span];
}

const backends = [
  { backend: 'PostgreSQL', queue: () => ({}) },
  { backend: 'Redis', queue: () => ({ REDIS_URL: inject('redisUrl') }) },
];

describe.each(backends)('with the queue in $backend, a poll', ({ queue }) => {
  let receiver: OtlpReceiver;
  let run: RecordedRun;
  /** The commits of polls. */
  let commits: ReceivedSpan[];

  beforeAll(async () => {
    receiver = await otlpReceiver();
    cleanups.push(() => receiver.close());
    const env = {
      ...JSON_OTLP,
      ...queue(),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${HEADER_CANARY}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    };
    run = await recordUntil(env, async (sql) => {
      await waitForRuns(sql, 3);
      await waitForRuns(sql, 1, 'heal');
    });
    const polls = receiver.spans.filter((span) => {
      const attributes = attributesOf(span);
      return (
        attributes.get('recorder.feed') === 'metric-points' && attributes.get('recorder.reason') === 'poll'
      );
    });
    const runs = new Set(polls.map(({ spanId }) => spanId));
    commits = receiver.spans.filter(
      ({ name, parentSpanId }) => name === 'commit' && runs.has(parentSpanId ?? ''),
    );
  });

  it('is one trace from the tick to the commit, each part below its caller', () => {
    expect(commits.length).toBeGreaterThanOrEqual(2);
    for (const commit of commits) {
      const path = pathOf(commit, receiver.spans);
      expect(new Set(path.map(({ traceId }) => traceId)).size).toBe(1);
      const names = path.map(({ name }) => name.split(' ')[0]);
      // The first poll is planned at the start, without a tick: the previous span requests the plan.
      const steps = ['process', 'plan', 'addBulk', 'process', 'run', 'commit'];
      expect(names).toEqual(names.length > steps.length ? ['add', ...steps] : steps);
      const [, , , , run] = path.slice(-steps.length);
      expect(attributesOf(run ?? commit).get('recorder.target')).toContain('43114');
    }
    expect(commits.some((commit) => pathOf(commit, receiver.spans)[0]?.name.startsWith('process'))).toBe(
      true,
    );
  });

  it('starts a trace at each tick, and each heal has its own', () => {
    const traces = commits.map(({ traceId }) => traceId);
    expect(new Set(traces).size).toBe(traces.length);
    const ticks = receiver.spans.filter(({ name }) => name === 'plan').map(({ traceId }) => traceId);
    expect(new Set(ticks).size).toBe(ticks.length);
    const heals = receiver.spans.filter((span) => attributesOf(span).get('recorder.reason') === 'heal');
    expect(heals.length).toBeGreaterThanOrEqual(1);
    for (const heal of heals) expect(ticks).not.toContain(heal.traceId);
  });

  it('has the calls of the upstream within the run, with their status, and without their query', () => {
    const calls = receiver.spans.filter(({ name }) => name === 'GET');
    const outcomes = calls.map(
      (call) => attributesOf(call).get('http.response.status_code') ?? call.status.message,
    );
    expect(outcomes.filter((outcome) => outcome === 200).length).toBeGreaterThanOrEqual(commits.length);
    // SIGTERM cancels a call in progress, which then has no status.
    expect(outcomes.filter((outcome) => outcome !== 200 && outcome !== 'stopped by the recorder')).toEqual(
      [],
    );
    for (const call of calls) {
      expect(pathOf(call, receiver.spans).at(-2)?.name).toBe('run');
      expect(attributesOf(call).get('url.path')).not.toContain('?');
    }
    expect(JSON.stringify(receiver.spans)).not.toContain('pageSize');
  });

  it('has the service name, and each commit once', () => {
    expect(receiver.resources.length).toBeGreaterThan(0);
    for (const one of receiver.resources) {
      expect(one.get('service.name')).toBe('chain-recorder');
      expect(one.get('deployment.environment')).toBe('test');
    }
    expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(receiver.spans.length);
  });

  it('adds its trace to lines of the log', () => {
    const ended = receiver.records.filter(({ body }) => body.stringValue === 'run ended');
    expect(ended.length).toBeGreaterThanOrEqual(3);
    const jobs = new Map(receiver.spans.map((span) => [span.spanId, span]));
    for (const record of ended) {
      const job = jobs.get(record.spanId ?? '');
      expect(job?.name.split(' ')[0]).toBe('process');
      expect(job?.traceId).toBe(record.traceId);
    }
    expect(receiver.records.map(({ body }) => body.stringValue)).toContain('stopping');
  });

  it('sends no secret, and no span of the queue itself', () => {
    const bodies = receiver.received.map(({ body }) => body).join('\n');
    expect(bodies).toContain('metric-points');
    for (const secret of [CANARY, HEADER_CANARY]) expect(bodies).not.toContain(secret);
    expect(receiver.received[0]?.headers.authorization).toBe(`Bearer ${HEADER_CANARY}`);
    expect(run.ended.stderr).not.toContain(HEADER_CANARY);
    expect(bodies).not.toMatch(/moveStalledJobsToWait|getNextJob/);
    expect(run.ended.code).toBe(0);
  });
});

describe('an endpoint', () => {
  it('that is down harms nothing, and is reported once a signal', async () => {
    const env = { ...JSON_OTLP, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await findFreePort()}` };
    const { ended, sql } = await recordUntil(env, (sql) => waitForRuns(sql, 4));
    expect(ended.code).toBe(0);
    const reported = ended.stderr.split('\n').filter((line) => line.includes('OpenTelemetry endpoint'));
    expect(reported.length).toBeLessThanOrEqual(2);
    // Probes of a node have gaps whenever the machine is slow, and before the first response.
    const [lost] = await sql`select count(*)::int as gaps from reporting.gaps
      where dataset = 'metric_points' and reason <> 'not recorded yet'`;
    expect(lost).toEqual({ gaps: 0 });
  });

  it('that never responds harms nothing, and does not delay the stop', async () => {
    const silent = await upstreamServer(() => {});
    cleanups.push(() => silent.close());
    const env = { ...JSON_OTLP, OTEL_EXPORTER_OTLP_ENDPOINT: silent.url };
    const { ended } = await recordUntil(env, async (sql) => {
      await waitForRuns(sql, 3);
      await vi.waitFor(() => expect(silent.received.length).toBeGreaterThan(0), WAIT_OPTIONS);
    });
    expect(ended.code).toBe(0);
  });
});
