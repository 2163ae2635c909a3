import type { Dataset, History } from '../../datasets/contract.ts';
import { writeSample } from '../readings/sample-history.ts';
import type { WriteHistory } from './batch.ts';
import { writeLog } from './log-history.ts';
import { writeSeries, writeState } from './versioned-history.ts';

const histories: Readonly<Record<History, WriteHistory>> = {
  series: writeSeries,
  log: writeLog,
  state: writeState,
  sample: writeSample,
};

/** Returns the history writer of a dataset. */
export const historyOf = ({ history }: Dataset): WriteHistory => histories[history];
