import type { Dataset, History } from '../datasets/contract.ts';
import { writeLog, writeSample } from './appended.ts';
import { writeSeries, writeState } from './versioned.ts';
import type { WriteHistory } from './writing.ts';

const histories: Readonly<Record<Exclude<History, 'ledger'>, WriteHistory>> = {
  series: writeSeries,
  log: writeLog,
  state: writeState,
  sample: writeSample,
};

/** How a dataset's kind of history takes a batch of rows. @throws Error for a ledger, which is no run's to write */
export function historyOf({ name, history }: Dataset): WriteHistory {
  if (history === 'ledger') throw new Error(`${name} is kept by the prober, not by runs`);
  return histories[history];
}
