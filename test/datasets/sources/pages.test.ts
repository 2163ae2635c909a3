import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourcePage, UpstreamClient, Window } from '../../../src/datasets/contract.ts';
import { getMember } from '../../../src/datasets/sources/answer.ts';
import { fetchPages, type PagedList } from '../../../src/datasets/sources/pages.ts';
import { UpstreamFailure } from '../../../src/upstreams/failure.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

const list: PagedList = {
  path: '/list',
  query: { pageSize: 2 },
  list: 'items',
  within: ({ from, to }) => ({ from, to }),
  at: (item) => {
    const at = getMember(item, 'at');
    return typeof at === 'number' ? at : null;
  },
  step: 1,
};

/** An upstream that returns these responses in order, and records its requests. */
function upstream(answer: (query: Query, call: number) => unknown) {
  const requests: Query[] = [];
  const refuse = () => Promise.reject(new Error('unexpected request'));
  const client: UpstreamClient = {
    get: async (_path, query = {}) => {
      requests.push(query);
      return answer(query, requests.length);
    },
    post: refuse,
    rpc: refuse,
    probe: refuse,
    pageSize: (max) => max,
    now: 0,
  };
  return { client, requests };
}

async function walk(
  client: UpstreamClient,
  window: Window | null,
  paged: PagedList = list,
): Promise<SourcePage[]> {
  const walked: SourcePage[] = [];
  for await (const page of fetchPages(client, paged, window)) walked.push(page);
  return walked;
}

const items = (...at: number[]) => at.map((one) => ({ at: one }));
const dead = (kind: 'bad-request' | 'not-found') =>
  new UpstreamFailure(kind, 'Invalid or expired page token');

describe('pages', () => {
  it('are fetched by token until there is none, each proving the range above its oldest item', async () => {
    const { client, requests } = upstream((_, call) =>
      call === 1
        ? { items: items(9, 7), nextPageToken: 'a' }
        : call === 2
          ? { items: items(5, 4), nextPageToken: 'b' }
          : { items: items(2) },
    );
    const walked = await walk(client, { from: 0, to: 10 });
    expect(requests).toEqual([
      { pageSize: 2, from: 0, to: 10 },
      { pageSize: 2, from: 0, to: 10, pageToken: 'a' },
      { pageSize: 2, from: 0, to: 10, pageToken: 'b' },
    ]);
    // More items of the oldest item's instant may follow on the next page.
    expect(walked.map(({ proven }) => proven)).toEqual([
      { from: 8, to: 10 },
      { from: 5, to: 10 },
      { from: 0, to: 10 },
    ]);
    expect(walked.map(({ last }) => last)).toEqual([false, false, true]);
    expect(walked.every(({ whole }) => whole)).toBe(true);
  });

  it.each([undefined, null, ''])('end at a nextPageToken of %j', async (nextPageToken) => {
    const { client, requests } = upstream(() => ({ items: [], nextPageToken }));
    expect(await walk(client, null)).toMatchObject([{ proven: null, last: true }]);
    expect(requests).toHaveLength(1);
  });

  it('treat a null list as empty and refuse a response without a list', async () => {
    expect(await walk(upstream(() => ({ items: null })).client, null)).toHaveLength(1);
    await expect(walk(upstream(() => ({ other: [] })).client, null)).rejects.toMatchObject({
      kind: 'malformed',
    });
    await expect(walk(upstream(() => 'text').client, null)).rejects.toMatchObject({ kind: 'malformed' });
  });

  it('refuse a token that is no string', async () => {
    await expect(walk(upstream(() => ({ items: [], nextPageToken: 7 })).client, null)).rejects.toMatchObject({
      kind: 'malformed',
    });
  });

  it('prove nothing more once they are unsorted, until the end', async () => {
    const { client } = upstream((_, call) =>
      call === 1
        ? { items: items(9, 8), nextPageToken: 'a' }
        : call === 2
          ? { items: items(3, 6), nextPageToken: 'b' }
          : { items: items(1) },
    );
    const walked = await walk(client, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([{ from: 9, to: 10 }, null, { from: 0, to: 10 }]);
  });

  it('prove nothing more after an item whose place is invalid', async () => {
    const { client } = upstream((_, call) =>
      call === 1 ? { items: [{ at: 9 }, { at: 'eight' }, null], nextPageToken: 'a' } : { items: items(1) },
    );
    const walked = await walk(client, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }]);
  });

  it('without places prove nothing before the end', async () => {
    const { at: _, ...unplaced } = list;
    const { client } = upstream((_query, call) => ({
      items: items(9),
      nextPageToken: call === 1 ? 'a' : '',
    }));
    const walked = await walk(client, { from: 0, to: 10 }, unplaced);
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }]);
  });

  it('prove nothing beyond the window from items outside it', async () => {
    const { client } = upstream((_, call) => ({
      items: call === 1 ? items(12, 11) : items(-4),
      nextPageToken: call === 1 ? 'a' : call === 2 ? 'b' : '',
    }));
    const walked = await walk(client, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }, { from: 0, to: 10 }]);
  });
});

describe('an expired token', () => {
  it.each(['bad-request', 'not-found'] as const)(
    'reported by %s loses nothing that is proven',
    async (kind) => {
      const { client, requests } = upstream(({ pageToken, to }) => {
        if (pageToken === 'a') throw dead(kind);
        if (to === 10) return { items: items(9, 7), nextPageToken: 'a' };
        return pageToken === undefined ? { items: items(7, 4), nextPageToken: 'c' } : { items: items(1) };
      });
      const walked = await walk(client, { from: 0, to: 10 });
      expect(requests.map(({ from, to, pageToken }) => [from, to, pageToken])).toEqual([
        [0, 10, undefined],
        [0, 10, 'a'],
        [0, 8, undefined],
        [0, 8, 'c'],
      ]);
      expect(walked.at(-1)).toMatchObject({ proven: { from: 0, to: 10 }, last: true, whole: true });
    },
  );

  it('restarts the whole window of an unsorted list', async () => {
    let died = false;
    const { client, requests } = upstream(({ pageToken }) => {
      if (pageToken !== undefined && !died) {
        died = true;
        throw dead('bad-request');
      }
      return pageToken === undefined
        ? { items: items(2, 7), nextPageToken: died ? 'b' : 'a' }
        : { items: [] };
    });
    await walk(client, { from: 0, to: 10 });
    expect(requests.map(({ to }) => to)).toEqual([10, 10, 10, 10]);
  });

  it('ends the walk at the second time, without a busy loop', async () => {
    const { client, requests } = upstream(({ pageToken }) => {
      if (pageToken !== undefined) throw dead('bad-request');
      return { items: items(9), nextPageToken: `t${requests.length}` };
    });
    await expect(walk(client, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'bad-request' });
    expect(requests).toHaveLength(4);
  });

  it('is not assumed if the first page is refused', async () => {
    const { client, requests } = upstream(() => {
      throw dead('not-found');
    });
    await expect(walk(client, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'not-found' });
    expect(requests).toHaveLength(1);
  });

  it('is not assumed if the upstream is down', async () => {
    const { client, requests } = upstream(({ pageToken }) => {
      if (pageToken !== undefined) throw new UpstreamFailure('server', 'answered 502');
      return { items: items(9), nextPageToken: 'a' };
    });
    await expect(walk(client, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'server' });
    expect(requests).toHaveLength(2);
  });
});

describe('tokens that keep expiring', () => {
  /**
   * A list, newest first, whose tokens are the place to continue from, and expire after this many pages of each start.
   */
  const dyingAfter = (all: readonly number[], size: number, lives: (start: number) => number) => {
    let start = 0;
    let page = 0;
    return upstream(({ from, to, pageToken }) => {
      if (pageToken === undefined) {
        start += 1;
        page = 0;
      } else if (page >= lives(start)) throw dead('bad-request');
      page += 1;
      const matching = all.filter((at) => at >= Number(from ?? 0) && at < Number(to ?? 100));
      const begin = pageToken === undefined ? 0 : matching.findIndex((at) => at <= Number(pageToken));
      const rest = begin < 0 ? [] : matching.slice(begin);
      const next = rest[size];
      return {
        items: items(...rest.slice(0, size)),
        ...(next === undefined ? {} : { nextPageToken: `${next}` }),
      };
    });
  };
  const downwards = Array.from({ length: 60 }, (_, index) => 60 - index);

  it('end the walk at the first start without progress', async () => {
    const { client, requests } = dyingAfter(downwards, 1, (start) => (start < 3 ? 7 : 1));
    await expect(walk(client, { from: 0, to: 100 })).rejects.toMatchObject({ kind: 'bad-request' });
    // Two starts of seven pages with seven new places each; one item on the only page of a start proves nothing.
    expect(requests.map(({ to }) => to).at(-1)).toBeGreaterThan(40);
    expect(requests).toHaveLength(2 * 8 + 2 * 2);
  });

  it('restart a walk without places as long as each start reads more pages', async () => {
    const { at: _, within: __, ...unplaced } = list;
    const growing = dyingAfter(downwards, 10, (start) => start * 2);
    expect((await walk(growing.client, null, unplaced)).at(-1)).toMatchObject({ last: true, whole: true });
    const stuck = dyingAfter(downwards, 10, () => 3);
    await expect(walk(stuck.client, null, unplaced)).rejects.toMatchObject({ kind: 'bad-request' });
    expect(stuck.requests).toHaveLength(8);
  });
});

describe('the order of a list', () => {
  it('is not proven by one item, nor by many of one instant', async () => {
    const { client } = upstream((_, call) => ({
      items: call === 1 ? items(7) : call === 2 ? items(7, 7) : items(6),
      nextPageToken: call < 4 ? `t${call}` : '',
    }));
    const walked = await walk(client, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([
      null,
      null,
      { from: 7, to: 10 },
      { from: 0, to: 10 },
    ]);
  });

  it('is unproven if pages of one item come in the opposite order before an expired token', async () => {
    const { client } = upstream(({ pageToken }, call) => {
      if (call === 3) throw dead('not-found');
      return { items: items(pageToken === undefined ? 1 : 2), nextPageToken: `t${call}` };
    });
    const walked: SourcePage[] = [];
    const readFourPages = async () => {
      for await (const page of fetchPages(client, list, { from: 0, to: 10 })) {
        walked.push(page);
        if (walked.length === 4) break;
      }
    };
    await readFourPages();
    expect(walked.map(({ proven }) => proven)).toEqual([null, null, null, null]);
  });

  it('that a later start contradicts proves only the pages of that start', async () => {
    const { client } = upstream(({ pageToken, to }) => {
      if (pageToken === 'a') throw dead('bad-request');
      return to === 10 ? { items: items(9, 7), nextPageToken: 'a' } : { items: items(2, 5) };
    });
    const walked = await walk(client, { from: 0, to: 10 });
    expect(walked.at(-1)).toMatchObject({ proven: { from: 0, to: 8 }, last: true, whole: false });
  });
});

describe('a list with a stated number of items', () => {
  it.each([700, 3, 0])('is refused if it has another number (%i) on one page', async (total) => {
    const { client } = upstream(() => ({ items: items(9, 8), total }));
    await expect(walk(client, null)).rejects.toThrow(`total is ${total}, and its pages have 2`);
  });

  it.each([
    ['fewer', () => 700, 700],
    ['more', () => 8, 8],
    ['another number at one of its pages', (call: number) => (call === 2 ? 11 : 10), 11],
  ])('is inconsistent over several pages if it has %s', async (_, totalOf, wrong) => {
    const { client } = upstream((_query, call) => ({
      items: items(9, 8),
      total: totalOf(call),
      nextPageToken: call < 5 ? `t${call}` : '',
    }));
    const walked = await walk(client, null);
    expect(walked.map(({ contradiction }) => contradiction)).toEqual([
      ...new Array(4).fill(undefined),
      `the response contradicts itself: total is ${wrong}, and its pages have 10`,
    ]);
  });

  it.each([2, '2', null, 'many'])('is parsed from %j', async (total) => {
    expect(await walk(upstream(() => ({ items: items(9, 8), total })).client, null)).toHaveLength(1);
  });
});

describe('tokens that never end', () => {
  it('stop the walk when a cycle closes', async () => {
    const { client, requests } = upstream(({ pageToken }) => ({
      items: items(1),
      nextPageToken: pageToken === 'a' ? 'b' : pageToken === 'b' ? 'c' : 'a',
    }));
    await expect(walk(client, null)).rejects.toMatchObject({ kind: 'malformed' });
    expect(requests).toHaveLength(4);
  });

  it('are followed through empty pages, up to a limit', async () => {
    const some = upstream((_, call) =>
      call < 8 ? { items: [], nextPageToken: `t${call}` } : { items: items(1) },
    );
    expect(await walk(some.client, null)).toHaveLength(8);
    const endless = upstream((_, call) => ({ items: [], nextPageToken: `t${call}` }));
    await expect(walk(endless.client, null)).rejects.toMatchObject({ kind: 'malformed' });
    expect(endless.requests.length).toBeLessThanOrEqual(12);
  });
});

/** Order of a simulated list: as promised, or reversed. */
const orders = {
  promised: (a: number, b: number) => b - a,
  reversed: (a: number, b: number) => a - b,
};

describe('any list, in pages of any size, with tokens that expire anywhere', () => {
  const lists = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 40 });
  const window = { from: 5, to: 35 };

  it('proves only what was read, and is read completely when a start reaches the end', async () => {
    const ends = { whole: 0, failed: 0, starts: 0 };
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.constantFrom('promised' as const, 'reversed' as const),
        fc.integer({ min: 1, max: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        fc.boolean(),
        async (unsorted, order, size, lives, placed) => {
          const all = unsorted.toSorted(orders[order]);
          let life = 0;
          let pagesOfStart = 0;
          let starts = 0;
          const { client, requests } = upstream(({ from, to, pageToken }, call) => {
            if (pageToken === undefined) {
              life = lives.next().value ?? 1;
              pagesOfStart = 0;
              starts += 1;
            } else if (pagesOfStart >= life) throw dead('bad-request');
            pagesOfStart += 1;
            const matching = all
              .map((at, id) => ({ at, id }))
              .filter(({ at }) => at >= Number(from) && at < Number(to));
            const start = pageToken === undefined ? 0 : Number(String(pageToken).split('/')[1]);
            const more = start + size < matching.length;
            const token = placed ? `0/${start + size}` : `${call}/${start + size}`;
            return { items: matching.slice(start, start + size), ...(more ? { nextPageToken: token } : {}) };
          });
          const read = new Set<unknown>();
          const idsIn = (part: Window | null) =>
            all.flatMap((at, id) => (part && at >= part.from && at < part.to ? [id] : []));
          let last: SourcePage | undefined;
          try {
            for await (last of fetchPages(client, list, window)) {
              for (const item of [getMember(last.body, 'items')].flat()) read.add(getMember(item, 'id'));
              expect(idsIn(last.proven).filter((id) => !read.has(id))).toEqual([]);
            }
            expect(last).toMatchObject({ proven: window, last: true, whole: true });
            expect(read).toEqual(new Set(idsIn(window)));
            ends.whole += 1;
          } catch (error) {
            if (!(error instanceof UpstreamFailure)) throw error;
            expect(error.kind).toBe('bad-request');
            expect(last?.last).not.toBe(true);
            ends.failed += 1;
          }
          ends.starts += starts;
          // A start reads a new instant or more pages than the previous one: the number of both is bounded.
          expect(requests.length).toBeLessThan(9 * (41 + 8) * 2);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(Math.min(ends.whole, ends.failed)).toBeGreaterThan(20);
    expect(ends.starts).toBeGreaterThan(ends.whole + ends.failed);
  });

  it('in the promised order is read completely if every start outlives the ties of one instant', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 5, max: 34 }), { maxLength: 30 }),
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (unsorted, size, life) => {
          const all = unsorted.toSorted(orders.promised);
          let page = 0;
          const { client } = upstream(({ from, to, pageToken }) => {
            if (pageToken === undefined) page = 0;
            else if (page >= life) throw dead('not-found');
            page += 1;
            const matching = all.filter((at) => at >= Number(from) && at < Number(to));
            const start = Number(pageToken ?? 0);
            const more = start + size < matching.length;
            return {
              items: items(...matching.slice(start, start + size)),
              ...(more ? { nextPageToken: `${start + size}` } : {}),
            };
          });
          const walked = await walk(client, window);
          expect(walked.at(-1)).toMatchObject({ proven: window, last: true, whole: true });
          const read = walked.flatMap(({ body }) =>
            [getMember(body, 'items')].flat().map((item) => getMember(item, 'at')),
          );
          expect(new Set(read)).toEqual(new Set(all));
        },
      ),
      { numRuns: 500 },
    );
  });
});
