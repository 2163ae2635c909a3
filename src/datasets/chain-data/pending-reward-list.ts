import type { Source, SourcePage } from '../contract.ts';
import { getList, getMember } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { stakers } from './stakers.ts';

/** Maximum number of addresses or nodes in one call (upstream-services.md#paging). */
const MAX_IDS_PER_CALL = 64;

/**
 * Pending rewards of all watched addresses and nodes. A reward in a response does not identify the requested
 * address or node. So all calls are one walk, and missing rewards are known only after the last call.
 */
export const pendingRewardList: Source = {
  name: 'pending-rewards',
  upstream: 'chainData',
  every: hour,
  weight: 100,
  calls: 2,
  paged: true,
  targets: ({ network, watch }) => {
    // The order in the configuration has no meaning. Another order must not be another target.
    const addresses = stakers(watch.addresses).sort().join(',');
    const nodeIds = [...new Set(watch.nodeIds)].sort().join(',');
    return addresses || nodeIds ? [{ network, addresses, nodeIds }] : [];
  },
  async *walk(client, { network, addresses = '', nodeIds = '' }) {
    const requests = [
      ...chunks(addresses).map((some) => ({ addresses: some })),
      ...chunks(nodeIds).map((some) => ({ nodeIds: some })),
    ];
    const path = `/v1/networks/${network}/rewards:listPending`;
    const known = new Set<string>();
    for (const [at, ids] of requests.entries()) {
      const query = { ...ids, pageSize: client.pageSize(100) };
      const rewards: unknown[] = [];
      for await (const page of fetchPages(client, { path, query, list: 'pendingRewards' }, null)) {
        rewards.push(...getList(page.body, 'pendingRewards'));
        yield { ...withoutKnownRewards(known, page), last: page.last && at === requests.length - 1 };
      }
      for (const reward of rewards) known.add(rewardKey(reward));
    }
  },
};

function chunks(list: string): string[] {
  const all = list.split(',').filter((one) => one !== '');
  const count = Math.ceil(all.length / MAX_IDS_PER_CALL);
  return Array.from({ length: count }, (_, at) =>
    all.slice(at * MAX_IDS_PER_CALL, (at + 1) * MAX_IDS_PER_CALL).join(','),
  );
}

/**
 * Returns the page without rewards of earlier calls. The `progress` of these rewards may have changed since,
 * which is no contradiction.
 */
function withoutKnownRewards(known: ReadonlySet<string>, page: SourcePage): SourcePage {
  const pendingRewards = getList(page.body, 'pendingRewards').filter(
    (reward) => !known.has(rewardKey(reward)),
  );
  return { ...page, body: { pendingRewards } };
}

/**
 * Returns the key of a reward. The fee of a validator has the transaction hash of its delegator, so that the
 * hash alone is not unique (upstream-services.md#values).
 */
const rewardKey = (reward: unknown) => `${getMember(reward, 'txHash')} ${getMember(reward, 'rewardType')}`;
