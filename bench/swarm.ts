import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { z } from 'zod';
import { activeLedgers, catalogNames } from '../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../src/app/upstream-opener.ts';
import { validateConfig } from '../src/config/load.ts';
import { createProbeQuery } from '../src/health/probe-node.ts';
import { Prober } from '../src/health/prober.ts';
import { steadyClock, systemClock } from '../src/lib/clock.ts';
import { Child } from './child.ts';

/** Punctuality of one process that probes many nodes. */
export interface Swarm {
  readonly nodes: number;
  readonly everySeconds: number;
  readonly minutes: number;
  readonly probes: number;
  readonly missed: number;
  /** Milliseconds from the planned moment to the start of the probe. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Seconds in which the process did not run: the machine stalled. */
  readonly absentSeconds: number;
  /** The share of one core that the process used. */
  readonly cpu: number;
}

const PROBE_INTERVAL_MS = 15_000;

/** Probes `count` nodes every 15 s for some minutes, over HTTP, with another process as the nodes. */
export async function measureSwarm(
  { sql, url }: { sql: postgres.Sql; url: string },
  count: number,
  minutes: number,
  signal: AbortSignal,
): Promise<Swarm> {
  const { child, first } = await Child.start(
    'service/nodes-process.ts',
    [],
    z.object({ port: z.number() }),
    signal,
  );
  try {
    const config = validateConfig(
      {
        network: 'mainnet',
        observer: 'swarm',
        upstreams: {
          nodes: Array.from({ length: count }, (_, n) => ({
            name: `node-${n}`,
            url: `http://127.0.0.1:${first.port}`,
          })),
        },
        datasets: { node_health: { every: '15s' } },
      },
      catalogNames,
      'the benchmark',
    );
    const [ledger] = activeLedgers(config);
    if (!ledger) throw new Error('there is nothing to watch');
    const delays: number[] = [];
    const warmAt = steadyClock() + PROBE_INTERVAL_MS * 1.5;
    const keys = { chainDataKey: undefined, metricsKey: undefined };
    const prober = await Prober.acquire({
      sql,
      wall: systemClock,
      steady: steadyClock,
      log: { info: () => {}, warn: (...messages: unknown[]) => console.error(...messages) },
      observer: 'swarm',
      holder: `swarm ${url}`,
      every: ledger.every,
      targets: ledger.targets.flatMap(({ node = '', probe = '' }) =>
        probe === 'health' ? [{ node, probe }] : [],
      ),
      query: createProbeQuery(createUpstreamOpener(config, keys, sql, systemClock), ledger, systemClock),
      maintenance: async () => [],
      // The first round probes all nodes at once; only the rounds after it count.
      queryStarted: (late) => void (steadyClock() >= warmAt && delays.push(late)),
    });
    if (!prober) throw new Error('another process watches');
    const stop = new AbortController();
    const used = process.cpuUsage();
    const startedAt = performance.now();
    const running = prober.run(AbortSignal.any([stop.signal, signal]));
    await delay(minutes * 60_000 + PROBE_INTERVAL_MS * 1.5, undefined, { signal }).catch(() => {});
    stop.abort();
    await running;
    const { user, system } = process.cpuUsage(used);
    const [absent] = await sql<{ seconds: number }[]>`
      select coalesce(extract(epoch from sum(ended_at - started_at)), 0)::float8 as seconds
      from reporting_internal.node_absences where observer = 'swarm'`;
    delays.sort((one, other) => one - other);
    const quantile = (share: number) =>
      delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
    return {
      nodes: count,
      everySeconds: PROBE_INTERVAL_MS / 1000,
      minutes,
      probes: delays.length,
      missed: prober.missed,
      delay: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
      absentSeconds: absent?.seconds ?? 0,
      cpu: (user + system) / 1000 / (performance.now() - startedAt),
    };
  } finally {
    await child.stop();
  }
}
