import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { runJobs } from '../../src/recording/record-in-foreground.ts';
import type { OpenContender } from './contender.ts';
import { addressIn, listWork } from './lists.ts';
import { openRecorder } from './recorder.ts';

/** The recorder: a poll of every target, fetched and committed like the command `record`. */
export const openListRecorder: OpenContender = async (setup) => {
  const { dataset, targets, window, items, alreadyRecorded } = listWork(setup.list);
  let round = 0;
  const context = openRecorder(setup, () => addressIn(setup.serviceUrl, round));
  const feed = withDefaultSettings({ source: dataset.source, datasets: [dataset] }, targets(0));
  return {
    async run(now) {
      round = now;
      const jobs = targets(round).map((target) => ({ target, window, reason: 'poll' }) as const);
      const { runs } = await runJobs(context, feed, jobs, new AbortController().signal);
      const bad = runs.find(({ status, quarantined }) => status !== 'done' || quarantined > 0);
      if (bad) throw new Error(`a run ended ${bad.status}: ${bad.error ?? `${bad.quarantined} quarantined`}`);
      const read = runs.reduce((sum, run) => sum + run.items, 0);
      const written = runs.reduce((sum, { rowsWritten }) => sum + (rowsWritten[0] ?? 0), 0);
      const maxRows = alreadyRecorded && round > 0 ? items * 0.02 : items;
      if (written > maxRows || written < maxRows / 4)
        throw new Error(`${written} of ${items} rows were written, in round ${round}`);
      return read;
    },
  };
};
