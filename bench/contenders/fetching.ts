import { blockPages } from './block-pages.ts';
import type { OpenContender } from './contender.ts';

/** Fetching and parsing the pages, and nothing else: the wire's own cost. */
export const openFetching: OpenContender = async (setup) => ({
  async run() {
    let rows = 0;
    for await (const blocks of blockPages(setup)) rows += blocks.length;
    return rows;
  },
});
