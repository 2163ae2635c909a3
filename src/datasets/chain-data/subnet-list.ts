import type { Source } from '../contract.ts';
import { listIn, memberOf } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { pages } from '../sources/pages.ts';

/** The service would give 10,000, but each subnet brings the genesis of its chains: pages stay below the cap on bytes. */
const PAGE = 500;

/** All subnets of the network, with their blockchains (seed chain-data 4.5). */
export const subnetList: Source = {
  name: 'subnet-list',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  paged: true,
  targets: ({ network }) => [{ network }],
  walk: (ask, { network }, window) =>
    pages(
      ask,
      { path: `/v1/networks/${network}/subnets`, query: { pageSize: ask.pageSize(PAGE) }, list: 'subnets' },
      window,
    ),
};

/**
 * The blockchains of all subnets in an answer. A subnet that shows no list of them stands for itself, so that it is
 * refused and nothing is concluded from what is missing.
 */
export function blockchainsIn(body: unknown): readonly unknown[] {
  return listIn(body, 'subnets').flatMap((subnet) => {
    const blockchains = memberOf(subnet, 'blockchains');
    if (blockchains === null) return [];
    return Array.isArray(blockchains) ? blockchains : [subnet];
  });
}
