import type { Dataset, Target, Window } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { PRIMARY_NETWORK } from '../../src/datasets/node/current-validators.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { record } from '../../src/recording/record.ts';
import type { Contender, OpenContender, Setup } from './contender.ts';
import { metricWindow } from './lists.ts';
import { openRecorder } from './recorder.ts';

/** One poll of a full page of a metric's points. */
export const openMetricPoll: OpenContender = async (setup) => {
  return poll(
    setup,
    metricPoints,
    { chainId: '43114', metric: 'txCount', timeInterval: 'hour' },
    metricWindow,
  );
};

/** One poll of the validators, without their uptime, which is a new reading each time. */
export const openValidatorPoll: OpenContender = async (setup) =>
  poll(setup, validators, { node: 'validator-1', subnetId: PRIMARY_NETWORK }, null);

function poll(setup: Setup, dataset: Dataset, target: Target, window: Window | null): Contender {
  const context = openRecorder(setup);
  const feed = withDefaultSettings({ source: dataset.source, datasets: [dataset] }, [target]);
  return {
    async run() {
      const result = await record(
        context,
        feed,
        { target, window, reason: 'poll' },
        new AbortController().signal,
      );
      if (typeof result === 'string') throw new Error(`the target is ${result}`);
      if (result.status !== 'done') throw new Error(`the poll ended ${result.status}: ${result.error}`);
      return result.rowsWritten[0] ?? 0;
    },
  };
}
