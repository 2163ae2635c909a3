import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import type { Source, SourcePage } from '../../src/datasets/contract.ts';
import { openDatabase } from '../../src/db/client.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import type { OpenUpstream } from '../../src/recording/context.ts';
import { record } from '../../src/recording/record.ts';
import { startDatabase } from '../database.ts';

/**
 * Measures whether runs and probes leave anything in the process that makes them: heap after each tenth. By hand: `node
 * --expose-gc --import tsx bench/memory/main.ts [COUNT [DATABASE_URL]]`; without a database it starts one. Exits 1 if
 * the heap grew by a tenth and 2 MB.
 */
const count = Number(process.argv[2] ?? 100_000);
const AT_ONCE = 8;

/** An upstream in memory that responds at once. */
const open: OpenUpstream = (_feed, _job, { clock }) => {
  const answer = async () => ({ healthy: true, checks: {} });
  return {
    get: answer,
    post: answer,
    rpc: answer,
    probe: async () => ({ healthy: true, checks: {} }),
    pageSize: (max) => max,
    usage: { requests: 1, units: 1 },
    get now() {
      return clock();
    },
  };
};
const walk: Source['walk'] = async function* (): AsyncGenerator<SourcePage> {
  yield { body: { subnets: [] }, proven: null, last: true, whole: true };
};

function heap(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

const [, , , url] = process.argv;
const database = url === undefined ? await startDatabase() : { url, close: async () => {} };
const { sql, commits, close } = openDatabase(database.url);
const stopping = new AbortController();
try {
  const targets = Array.from({ length: AT_ONCE }, (_, at) => ({ network: `made-${at}` }));
  const source = { ...subnets.source, walk };
  const feed = withDefaultSettings({ source, datasets: [{ ...subnets, source }] }, targets);
  const context = { sql, commits, clock: Date.now, worker: 'bench', open, redact: (text: string) => text };
  const probeTarget = { observer: 'bench', node: 'one', probe: 'health' };
  const probe = createProbeQuery(
    open,
    withDefaultSettings({ source: nodeHealth.source, datasets: [nodeHealth] }, [probeTarget]),
    Date.now,
  );
  const heaps: number[] = [];
  for (let tenth = 0; tenth <= 10; tenth++) {
    await Promise.all(
      targets.map(async (target) => {
        for (let n = 0; n < count / 10 / AT_ONCE; n++) {
          const job = { target, window: null, reason: 'poll' as const };
          await record(context, feed, job, stopping.signal);
          await probe(probeTarget, stopping.signal);
        }
      }),
    );
    heaps.push(heap());
    console.log(
      `${Math.round((tenth + 1) * (count / 10))} runs and probes: heap ${heaps.at(-1)?.toFixed(1)} MB`,
    );
  }
  // The first tenth warms up.
  const [first = 0, last = 0] = [heaps[1], heaps.at(-1)];
  process.exitCode = last > first * 1.1 + 2 ? 1 : 0;
} finally {
  await close();
  await database.close();
}
