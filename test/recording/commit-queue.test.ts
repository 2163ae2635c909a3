import { describe, expect, it } from 'vitest';
import { CommitQueue } from '../../src/recording/commit-queue.ts';
import { gate } from '../support/scripted-feed.ts';

/** A started commit, with its number of rows. */
interface StartedCommit {
  readonly rows: number;
  readonly end: (error?: Error) => void;
}

/** Number of microtask turns after which all promises are settled. */
async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** A run's rows, and the commits that its line starts. */
function createQueue({ isIdle = false } = {}) {
  const started: StartedCommit[] = [];
  let rows = 0;
  const queue = new CommitQueue({
    rows: () => rows,
    isIdle: () => isIdle,
    commit: async () => {
      const ended = gate<Error | undefined>();
      started.push({ rows, end: ended.open });
      rows = 0;
      const error = await ended.opened;
      if (error) throw error;
    },
  });
  return {
    queue,
    started,
    /** Adds rows. @returns whether more may be fetched at once */
    async addRows(count: number): Promise<boolean> {
      rows += count;
      return Promise.race([queue.pagesArrived().then(() => true), settlePromises().then(() => false)]);
    },
    /** Ends the commit at an index. */
    async end(index: number, error?: Error): Promise<void> {
      started[index]?.end(error);
      await settlePromises();
    },
  };
}

describe('the commits of a run', () => {
  it('start with a batch of minimum size, and continue with the rows that arrived meanwhile', async () => {
    const { queue, started, addRows, end } = createQueue();
    await addRows(1_200);
    await addRows(600);
    await addRows(600);
    expect(started.map(({ rows }) => rows)).toEqual([1_200]);
    await end(0);
    await addRows(100);
    expect(started.map(({ rows }) => rows)).toEqual([1_200, 1_300]);
    await end(1);
    await queue.end();
  });

  it('start with a smaller batch if no other run commits', async () => {
    const { started, addRows } = createQueue({ isIdle: true });
    await addRows(249);
    await addRows(1);
    await expect.poll(() => started.map(({ rows }) => rows)).toEqual([250]);
  });

  it('wait briefly for more rows if few arrived', async () => {
    const { started, addRows } = createQueue();
    await addRows(10);
    await addRows(10);
    expect(started).toEqual([]);
    await expect.poll(() => started.map(({ rows }) => rows)).toEqual([20]);
  });

  it('pause fetching at the maximum of waiting rows', async () => {
    const { queue, started, addRows, end } = createQueue();
    await addRows(1_000);
    expect(await addRows(1_999)).toBe(true);
    expect(await addRows(1)).toBe(false);
    expect(started.map(({ rows }) => rows)).toEqual([1_000]);
    await end(0);
    expect(started.map(({ rows }) => rows)).toEqual([1_000, 2_000]);
    await end(1);
    await queue.end();
  });

  it('end with those that started; the caller commits the remaining rows', async () => {
    const { queue, started, addRows } = createQueue();
    await addRows(10);
    await queue.end();
    expect(started).toEqual([]);
  });

  it('fail together, and none starts afterwards', async () => {
    const { queue, started, addRows, end } = createQueue();
    await addRows(1_000);
    await end(0, new Error('it failed'));
    await expect(addRows(5_000)).rejects.toThrow('it failed');
    await expect(queue.end()).rejects.toThrow('it failed');
    expect(started).toHaveLength(1);
  });
});
