import type { OpenContender } from './contender.ts';
import { addressIn, listWork } from './lists.ts';
import { plainPages } from './plain-client.ts';

/** Fetches and parses the lists only. */
export const openListFetch: OpenContender = async ({ serviceUrl, list }) => {
  const work = listWork(list);
  return {
    async run(round) {
      let items = 0;
      for await (const { body } of plainPages(work, work.targets(round), addressIn(serviceUrl, round)))
        items += work.dataset.items(body, {}).length;
      return items;
    },
  };
};
