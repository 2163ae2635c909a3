import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ask, Page, Window } from '../../../src/datasets/contract.ts';
import { memberOf } from '../../../src/datasets/sources/answer.ts';
import { type PagedList, pages } from '../../../src/datasets/sources/pages.ts';
import { UpstreamFailure } from '../../../src/upstreams/failure.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

const list: PagedList = {
  path: '/list',
  query: { pageSize: 2 },
  list: 'items',
  within: ({ from, to }) => ({ from, to }),
  at: (item) => {
    const at = memberOf(item, 'at');
    return typeof at === 'number' ? at : null;
  },
  step: 1,
};

/** An upstream that gives these answers one after the other, and notes what it was asked. */
function upstream(answer: (query: Query, call: number) => unknown) {
  const asked: Query[] = [];
  const refuse = () => Promise.reject(new Error('not asked for'));
  const ask: Ask = {
    get: async (_path, query = {}) => {
      asked.push(query);
      return answer(query, asked.length);
    },
    post: refuse,
    rpc: refuse,
    probe: refuse,
    pageSize: (most) => most,
    now: 0,
  };
  return { ask, asked };
}

async function walk(ask: Ask, window: Window | null, paged: PagedList = list): Promise<Page[]> {
  const walked: Page[] = [];
  for await (const page of pages(ask, paged, window)) walked.push(page);
  return walked;
}

const items = (...at: number[]) => at.map((one) => ({ at: one }));
const dead = (kind: 'bad-request' | 'not-found') =>
  new UpstreamFailure(kind, 'Invalid or expired page token');

describe('pages', () => {
  it('are asked for by token until there is none, each proving what lies above its oldest item', async () => {
    const { ask, asked } = upstream((_, call) =>
      call === 1
        ? { items: items(9, 7), nextPageToken: 'a' }
        : call === 2
          ? { items: items(5, 4), nextPageToken: 'b' }
          : { items: items(2) },
    );
    const walked = await walk(ask, { from: 0, to: 10 });
    expect(asked).toEqual([
      { pageSize: 2, from: 0, to: 10 },
      { pageSize: 2, from: 0, to: 10, pageToken: 'a' },
      { pageSize: 2, from: 0, to: 10, pageToken: 'b' },
    ]);
    // The oldest item's own instant may go on on the next page.
    expect(walked.map(({ proven }) => proven)).toEqual([
      { from: 8, to: 10 },
      { from: 5, to: 10 },
      { from: 0, to: 10 },
    ]);
    expect(walked.map(({ last }) => last)).toEqual([false, false, true]);
    expect(walked.every(({ whole }) => whole)).toBe(true);
  });

  it.each([undefined, null, ''])('end at a nextPageToken of %j', async (nextPageToken) => {
    const { ask, asked } = upstream(() => ({ items: [], nextPageToken }));
    expect(await walk(ask, null)).toMatchObject([{ proven: null, last: true }]);
    expect(asked).toHaveLength(1);
  });

  it('take a null list for an empty one and refuse an answer without', async () => {
    expect(await walk(upstream(() => ({ items: null })).ask, null)).toHaveLength(1);
    await expect(walk(upstream(() => ({ other: [] })).ask, null)).rejects.toMatchObject({
      kind: 'malformed',
    });
    await expect(walk(upstream(() => 'text').ask, null)).rejects.toMatchObject({ kind: 'malformed' });
  });

  it('refuse a token that is no string', async () => {
    await expect(walk(upstream(() => ({ items: [], nextPageToken: 7 })).ask, null)).rejects.toMatchObject({
      kind: 'malformed',
    });
  });

  it('prove nothing more once they are unsorted, until the end', async () => {
    const { ask } = upstream((_, call) =>
      call === 1
        ? { items: items(9, 8), nextPageToken: 'a' }
        : call === 2
          ? { items: items(3, 6), nextPageToken: 'b' }
          : { items: items(1) },
    );
    const walked = await walk(ask, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([{ from: 9, to: 10 }, null, { from: 0, to: 10 }]);
  });

  it('prove nothing more after an item whose place cannot be read', async () => {
    const { ask } = upstream((_, call) =>
      call === 1 ? { items: [{ at: 9 }, { at: 'eight' }, null], nextPageToken: 'a' } : { items: items(1) },
    );
    const walked = await walk(ask, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }]);
  });

  it('without places prove nothing before the end', async () => {
    const { at: _, ...unplaced } = list;
    const { ask } = upstream((_query, call) => ({ items: items(9), nextPageToken: call === 1 ? 'a' : '' }));
    const walked = await walk(ask, { from: 0, to: 10 }, unplaced);
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }]);
  });

  it('claim nothing beyond the window by items that lie outside it', async () => {
    const { ask } = upstream((_, call) => ({
      items: call === 1 ? items(12, 11) : items(-4),
      nextPageToken: call === 1 ? 'a' : call === 2 ? 'b' : '',
    }));
    const walked = await walk(ask, { from: 0, to: 10 });
    expect(walked.map(({ proven }) => proven)).toEqual([null, { from: 0, to: 10 }, { from: 0, to: 10 }]);
  });
});

describe('a token that died', () => {
  it.each(['bad-request', 'not-found'] as const)('by %s costs nothing that is proven', async (kind) => {
    const { ask, asked } = upstream(({ pageToken, to }) => {
      if (pageToken === 'a') throw dead(kind);
      if (to === 10) return { items: items(9, 7), nextPageToken: 'a' };
      return pageToken === undefined ? { items: items(7, 4), nextPageToken: 'c' } : { items: items(1) };
    });
    const walked = await walk(ask, { from: 0, to: 10 });
    expect(asked.map(({ from, to, pageToken }) => [from, to, pageToken])).toEqual([
      [0, 10, undefined],
      [0, 10, 'a'],
      [0, 8, undefined],
      [0, 8, 'c'],
    ]);
    expect(walked.at(-1)).toMatchObject({ proven: { from: 0, to: 10 }, last: true, whole: false });
  });

  it('in an unsorted list starts the whole window again', async () => {
    let died = false;
    const { ask, asked } = upstream(({ pageToken }) => {
      if (pageToken !== undefined && !died) {
        died = true;
        throw dead('bad-request');
      }
      return pageToken === undefined
        ? { items: items(2, 7), nextPageToken: died ? 'b' : 'a' }
        : { items: [] };
    });
    await walk(ask, { from: 0, to: 10 });
    expect(asked.map(({ to }) => to)).toEqual([10, 10, 10, 10]);
  });

  it('twice ends the walk, with no hot loop', async () => {
    const { ask, asked } = upstream(({ pageToken }) => {
      if (pageToken !== undefined) throw dead('bad-request');
      return { items: items(9), nextPageToken: `t${asked.length}` };
    });
    await expect(walk(ask, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'bad-request' });
    expect(asked).toHaveLength(4);
  });

  it('is none where the first page is refused', async () => {
    const { ask, asked } = upstream(() => {
      throw dead('not-found');
    });
    await expect(walk(ask, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'not-found' });
    expect(asked).toHaveLength(1);
  });

  it('is none where the upstream is down', async () => {
    const { ask, asked } = upstream(({ pageToken }) => {
      if (pageToken !== undefined) throw new UpstreamFailure('server', 'answered 502');
      return { items: items(9), nextPageToken: 'a' };
    });
    await expect(walk(ask, { from: 0, to: 10 })).rejects.toMatchObject({ kind: 'server' });
    expect(asked).toHaveLength(2);
  });
});

describe('tokens that lead nowhere', () => {
  it('the same one for ever stops the walk after two', async () => {
    const { ask, asked } = upstream(() => ({ items: items(1), nextPageToken: 'same' }));
    await expect(walk(ask, null)).rejects.toMatchObject({ kind: 'malformed' });
    expect(asked).toHaveLength(2);
  });

  it('a circle stops it when it closes', async () => {
    const { ask, asked } = upstream(({ pageToken }) => ({
      items: items(1),
      nextPageToken: pageToken === 'a' ? 'b' : pageToken === 'b' ? 'c' : 'a',
    }));
    await expect(walk(ask, null)).rejects.toMatchObject({ kind: 'malformed' });
    expect(asked).toHaveLength(4);
  });

  it('empty pages are followed, but not for ever', async () => {
    const some = upstream((_, call) =>
      call < 8 ? { items: [], nextPageToken: `t${call}` } : { items: items(1) },
    );
    expect(await walk(some.ask, null)).toHaveLength(8);
    const endless = upstream((_, call) => ({ items: [], nextPageToken: `t${call}` }));
    await expect(walk(endless.ask, null)).rejects.toMatchObject({ kind: 'malformed' });
    expect(endless.asked.length).toBeLessThanOrEqual(12);
  });
});

describe('any sorted list, in pages of any size, with a token dying anywhere', () => {
  it('is read whole, and no page claims what was not read yet', async () => {
    const held = fc
      .uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 25 })
      .map((all) => all.flatMap((at, index) => (index % 3 === 0 ? [at, at] : [at])).sort((a, b) => b - a));
    await fc.assert(
      fc.asyncProperty(
        held,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 12 }),
        async (all, size, deathAt) => {
          const { ask } = upstream(({ from, to, pageToken }, call) => {
            if (call === deathAt && pageToken !== undefined) throw dead('bad-request');
            const matching = all
              .map((at, id) => ({ at, id }))
              .filter(({ at }) => at >= Number(from) && at < Number(to));
            const start = pageToken === undefined ? 0 : Number(String(pageToken).split('/')[1]);
            const more = start + size < matching.length;
            return {
              items: matching.slice(start, start + size),
              ...(more ? { nextPageToken: `${call}/${start + size}` } : {}),
            };
          });
          const read = new Set<unknown>();
          const window = { from: 5, to: 35 };
          for await (const { body, proven } of pages(ask, list, window)) {
            for (const item of Array.isArray(memberOf(body, 'items')) ? [memberOf(body, 'items')].flat() : [])
              read.add(memberOf(item, 'id'));
            const claimed = all.flatMap((at, id) =>
              proven && at >= proven.from && at < proven.to ? [id] : [],
            );
            expect(claimed.filter((id) => !read.has(id))).toEqual([]);
          }
          expect(read).toEqual(
            new Set(all.flatMap((at, id) => (at >= window.from && at < window.to ? [id] : []))),
          );
        },
      ),
    );
  });
});
