import { describe, expect, it } from 'vitest';
import { CommitQueue } from '../../src/recording/commit-queue.ts';
import { gate } from '../support/scripted-feed.ts';

/** A started commit, with its number of rows. */
interface Begun {
  readonly rows: number;
  readonly end: (error?: Error) => void;
}

/** Number of microtask turns after which all promises are settled. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** A run's rows, and the commits that its line starts. */
function gatheredRows({ isIdle = false } = {}) {
  const begun: Begun[] = [];
  let rows = 0;
  const line = new CommitQueue({
    rows: () => rows,
    isIdle: () => isIdle,
    commit: async () => {
      const ended = gate<Error | undefined>();
      begun.push({ rows, end: ended.open });
      rows = 0;
      const error = await ended.opened;
      if (error) throw error;
    },
  });
  return {
    line,
    begun,
    /** Adds rows. @returns whether more may be fetched at once */
    async come(count: number): Promise<boolean> {
      rows += count;
      return Promise.race([line.pagesArrived().then(() => true), turns().then(() => false)]);
    },
    /** Ends the commit at an index. */
    async end(place: number, error?: Error): Promise<void> {
      begun[place]?.end(error);
      await turns();
    },
  };
}

describe('the commits of a run', () => {
  it('start with a batch of minimum size, and continue with the rows that arrived meanwhile', async () => {
    const { line, begun, come, end } = gatheredRows();
    await come(1_200);
    await come(600);
    await come(600);
    expect(begun.map(({ rows }) => rows)).toEqual([1_200]);
    await end(0);
    await come(100);
    expect(begun.map(({ rows }) => rows)).toEqual([1_200, 1_300]);
    await end(1);
    await line.end();
  });

  it('start with a smaller batch if no other run commits', async () => {
    const { begun, come } = gatheredRows({ isIdle: true });
    await come(249);
    await come(1);
    await expect.poll(() => begun.map(({ rows }) => rows)).toEqual([250]);
  });

  it('wait briefly for more rows if few arrived', async () => {
    const { begun, come } = gatheredRows();
    await come(10);
    await come(10);
    expect(begun).toEqual([]);
    await expect.poll(() => begun.map(({ rows }) => rows)).toEqual([20]);
  });

  it('pause fetching at the maximum of waiting rows', async () => {
    const { line, begun, come, end } = gatheredRows();
    await come(1_000);
    expect(await come(1_999)).toBe(true);
    expect(await come(1)).toBe(false);
    expect(begun.map(({ rows }) => rows)).toEqual([1_000]);
    await end(0);
    expect(begun.map(({ rows }) => rows)).toEqual([1_000, 2_000]);
    await end(1);
    await line.end();
  });

  it('end with those that started; the caller commits the remaining rows', async () => {
    const { line, begun, come } = gatheredRows();
    await come(10);
    await line.end();
    expect(begun).toEqual([]);
  });

  it('fail together, and none starts afterwards', async () => {
    const { line, begun, come, end } = gatheredRows();
    await come(1_000);
    await end(0, new Error('it failed'));
    await expect(come(5_000)).rejects.toThrow('it failed');
    await expect(line.end()).rejects.toThrow('it failed');
    expect(begun).toHaveLength(1);
  });
});
