import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { decimal, object, unixSeconds } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';

/**
 * Average transactions per second by day, without a window. `status` and `lastRun` of the response are stored
 * with the run. The API was discontinued for some chains. For these chains, the statuses 404 and 410 are no
 * outage (upstream-services.md#metrics-service).
 */
const source: Source = {
  name: 'average-tps',
  upstream: 'metrics',
  every: hour,
  weight: 100,
  calls: 1,
  targets: ({ watch }) => watch.chains.filter((chain) => /^\d+$/.test(chain)).map((chainId) => ({ chainId })),
  async *walk(client, { chainId }, window) {
    const list = { path: `/v1/avg_tps/${chainId}`, query: {}, list: 'results' };
    try {
      for await (const page of fetchPages(client, list, window)) {
        const status = getMember(page.body, 'status');
        const lastRun = getMember(page.body, 'lastRun');
        yield { ...page, note: `status ${String(status)}, lastRun ${String(lastRun)}` };
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'not-found') throw error;
      throw new UpstreamFailure('unsupported', `no average TPS for this chain: ${error.message}`);
    }
  },
};

export const averageTps = defineDataset({
  name: 'average_tps',
  about: 'Average transactions per second of an EVM chain by day, with every revision.',
  operations: ['GET /v1/avg_tps/{chainId}'],
  history: 'series',
  source,
  request: ['chainId'],
  key: ['chain_id', 'bucket_start'],
  items: (body) => getList(body, 'results'),
  interval: () => 'day',
  rename: { timestamp: 'bucket_start' },
  item: object({ timestamp: unixSeconds('Start of the day.'), value: decimal('Transactions per second.') }),
  example: { timestamp: 1724716800, value: 1.98 },
});

export const { table: averageTpsTable } = averageTps;
