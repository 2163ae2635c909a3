import type { Dataset, History } from '../datasets/contract.ts';
import { writeLog } from './appended.ts';
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
