import { expect, it } from 'vitest';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import type { Range, SourcePage, UpstreamClient, Window } from '../../src/datasets/contract.ts';
import { walk } from '../../src/recording/walk.ts';

const range: Range = { axis: 'height', span: () => 10, head: () => 0, settle: 0, lookback: 0 };
const nobody = () => Promise.reject(new Error('unexpected request'));
const client: UpstreamClient = {
  get: nobody,
  post: nobody,
  rpc: nobody,
  probe: nobody,
  pageSize: (max) => max,
  now: 0,
};

/** Returns the results of a walk through a window if each piece returns these pages. */
async function collectWalk(
  window: Window | null,
  answer: (piece: Window | null) => Omit<SourcePage, 'body' | 'whole'>[],
) {
  const requested: (Window | null)[] = [];
  const source = {
    ...proposedBlocks.source,
    range,
    walk: async function* (_ask: UpstreamClient, _target: unknown, piece: Window | null) {
      requested.push(piece);
      for (const page of answer(piece)) yield { body: null, whole: true, ...page };
    },
  };
  const pages: Pick<SourcePage, 'proven' | 'last'>[] = [];
  for await (const { proven, last } of walk({ source }, client, {}, window)) pages.push({ proven, last });
  return { requested, pages };
}

it('runs piece by piece, newest first, and proves down from the end of the whole window', async () => {
  const { requested, pages } = await collectWalk({ from: 5, to: 30 }, (piece) => {
    if (!piece) throw new Error('a window was requested');
    const middle = Math.ceil((piece.from + piece.to) / 2);
    return [
      { proven: null, last: false },
      { proven: { from: middle, to: piece.to }, last: false },
      { proven: piece, last: true },
    ];
  });
  expect(requested).toEqual([
    { from: 20, to: 30 },
    { from: 10, to: 20 },
    { from: 5, to: 10 },
  ]);
  expect(pages).toEqual([
    { proven: null, last: false },
    { proven: { from: 25, to: 30 }, last: false },
    { proven: { from: 20, to: 30 }, last: false },
    { proven: null, last: false },
    { proven: { from: 15, to: 30 }, last: false },
    { proven: { from: 10, to: 30 }, last: false },
    { proven: null, last: false },
    { proven: { from: 8, to: 30 }, last: false },
    { proven: { from: 5, to: 30 }, last: true },
  ]);
});

it('proves nothing beyond an unproven piece', async () => {
  const { pages } = await collectWalk({ from: 0, to: 30 }, (piece) => {
    if (piece?.to === 20) return [{ proven: { from: 15, to: 20 }, last: true }];
    if (piece?.to === 10)
      return [
        { proven: { from: 0, to: 4 }, last: false },
        { proven: piece, last: true },
      ];
    return [{ proven: piece, last: true }];
  });
  expect(pages).toEqual([
    { proven: { from: 20, to: 30 }, last: false },
    { proven: { from: 15, to: 30 }, last: false },
    { proven: { from: 0, to: 4 }, last: false },
    { proven: { from: 0, to: 10 }, last: true },
  ]);
});

it('requests once without a window', async () => {
  const { requested, pages } = await collectWalk(null, () => [{ proven: null, last: true }]);
  expect([requested, pages]).toEqual([[null], [{ proven: null, last: true }]]);
});
