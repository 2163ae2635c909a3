import type { Source } from '../contract.ts';
import { getList, getMember } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';

/**
 * Page size. The service allows 10,000, but each subnet contains the genesis of its chains, and a page must
 * not exceed the maximum size of a response.
 */
const PAGE_SIZE = 500;

/** All subnets of the network, with their blockchains. */
export const subnetList: Source = {
  name: 'subnet-list',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  paged: true,
  targets: ({ network }) => [{ network }],
  walk: (client, { network }, window) =>
    fetchPages(
      client,
      {
        path: `/v1/networks/${network}/subnets`,
        query: { pageSize: client.pageSize(PAGE_SIZE) },
        list: 'subnets',
      },
      window,
    ),
};

/**
 * Returns the blockchains of all subnets in a response. A subnet without a list of blockchains is itself
 * returned as an item. Such an item cannot be decoded, so that the run is incomplete and no blockchain is
 * retired.
 */
export function blockchainsIn(body: unknown): readonly unknown[] {
  return getList(body, 'subnets').flatMap((subnet) => {
    const blockchains = getMember(subnet, 'blockchains');
    if (blockchains === null) return [];
    return Array.isArray(blockchains) ? blockchains : [subnet];
  });
}
