import { feeds } from '../../src/datasets/catalog.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { findUncoveredWindows, jointState } from '../../src/recording/plan.ts';
import { runJobs } from '../../src/recording/record-in-foreground.ts';
import { blockRange, target } from './block-range.ts';
import type { OpenContender } from './contender.ts';
import { openRecorder } from './recorder.ts';

/** The recorder: a backfill of all blocks, planned, fetched and committed like the command. */
export const openIngest: OpenContender = async (setup) => {
  const context = openRecorder(setup);
  const found = feeds.find(({ source }) => source === proposedBlocks.source);
  if (!found) throw new Error('the catalog has no feed of proposed blocks');
  const feed = withDefaultSettings(found, [target]);
  return {
    async run() {
      const jobs = findUncoveredWindows(
        feed,
        target,
        jointState(feed, new Map(), target),
        blockRange(setup.rows),
      ).map((window) => ({ target, window, reason: 'backfill' }) as const);
      const { runs } = await runJobs(context, feed, jobs, new AbortController().signal);
      const bad = runs.find(({ status, quarantined }) => status !== 'done' || quarantined > 0);
      if (bad)
        throw new Error(`a run ended ${bad.status}: ${bad.error ?? `${bad.quarantined} items quarantined`}`);
      return runs.reduce((sum, { rowsWritten }) => sum + (rowsWritten[0] ?? 0), 0);
    },
  };
};
