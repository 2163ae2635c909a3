import type { History } from '../datasets/contract.ts';
import { writeLog, writeSample } from './appended.ts';
import { writeLedger } from './ledger.ts';
import { writeSeries, writeState } from './versioned.ts';
import type { WriteHistory } from './writing.ts';

/** How each kind of history takes a batch of rows. */
export const histories: Readonly<Record<History, WriteHistory>> = {
  series: writeSeries,
  log: writeLog,
  state: writeState,
  sample: writeSample,
  ledger: writeLedger,
};
