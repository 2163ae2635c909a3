import { setInterval as every } from 'node:timers';
import postgres from 'postgres';
import { createUpstreamOpener } from '../../src/app/upstream-opener.ts';
import { keepShares } from '../../src/health/keep-shares.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import { sharesOf } from '../../src/health/shares.ts';
import { steadyClock, systemClock } from '../../src/lib/clock.ts';
import { createConfiguration } from '../../src/recording/configuration.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { OBSERVER, probingConfig } from './configuration.ts';

/** A process that probes its partitions, as `up` does. Sends the delays of its probes since the last request. */
const [url = '', port = '', nodes = '', shares = '', name = ''] = process.argv.slice(2);
const { config, ledger } = probingConfig({
  port: Number(port),
  nodes: Number(nodes),
  partitions: Number(shares),
});
const sql = postgres(url, { max: 4, onnotice: () => {} });
const registration = await ProcessRegistration.join(sql, createConfiguration(config, [ledger]), name, [
  'worker',
]);
every(() => void registration.beat().catch(() => {}), 5_000);

let late: number[] = [];
let used = process.cpuUsage();
let since = performance.now();
process.on('message', () => {
  const { user, system } = process.cpuUsage(used);
  process.send?.({ late, cpu: (user + system) / 1000 / (performance.now() - since) });
  late = [];
  used = process.cpuUsage();
  since = performance.now();
});
process.on('disconnect', () => process.exit());

const keys = { chainDataKey: undefined, metricsKey: undefined };
const stop = new AbortController();
const kept = keepShares(
  {
    prober: {
      sql,
      wall: systemClock,
      steady: steadyClock,
      log: { info: () => {}, warn: (...messages: unknown[]) => console.error(name, ...messages) },
      every: ledger.every,
      query: createProbeQuery(createUpstreamOpener(config, keys, sql, systemClock), ledger, systemClock),
      maintenance: async () => [],
      queryStarted: (milliseconds) => void late.push(milliseconds),
    },
    shares: new Map(
      sharesOf(OBSERVER, Number(shares)).map((share) => [
        share,
        ledger.targets.flatMap(({ observer, node = '', probe = '' }) =>
          observer === share && probe === 'health' ? [{ node, probe }] : [],
        ),
      ]),
    ),
    worker: name,
    shift: 'only',
    workers: () => registration.workers(),
  },
  stop.signal,
);
process.send?.({ started: true });
await kept;
