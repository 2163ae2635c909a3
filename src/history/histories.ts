import type { Dataset, History } from '../datasets/contract.ts';
import { appendLog, writeLog } from './appended.ts';
import { writeSample } from './readings/opening.ts';
import { writeSeries, writeState } from './versioned.ts';
import type { WriteHistory } from './writing.ts';

const histories: Readonly<Record<History, WriteHistory>> = {
  series: writeSeries,
  log: writeLog,
  state: writeState,
  sample: writeSample,
};

/** How a dataset's kind of history takes a batch of rows. */
export const historyOf = ({ history }: Dataset): WriteHistory => histories[history];

/** As {@link historyOf}, for rows that are expected to be new: the statement fails where a row of a log is known. */
export const newHistoryOf = (dataset: Dataset): WriteHistory =>
  dataset.history === 'log' ? appendLog : historyOf(dataset);
