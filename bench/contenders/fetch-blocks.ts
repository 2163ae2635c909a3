import { blockPages } from './block-pages.ts';
import type { OpenContender } from './contender.ts';

/** Fetches and parses the pages only: the cost of the network. */
export const openBlockFetch: OpenContender = async (setup) => ({
  async run() {
    let rows = 0;
    for await (const blocks of blockPages(setup)) rows += blocks.length;
    return rows;
  },
});
