import { incoming, rowColumns, type WriteHistory } from './writing.ts';

/** `log`: a row is written once, by its natural key; seen again, it changes nothing. */
export const writeLog: WriteHistory = (statement, dataset, at) => {
  const names = rowColumns(dataset).join(', ');
  const recordedAt = statement.param('timestamptz', (write) => write.recordedAt);
  return {
    ctes: [
      `written_${at} as (
        insert into recorder.${dataset.name} (${names}, recorded_at, run_id)
        select ${names}, ${recordedAt}, fence.run_id from (${incoming(statement, dataset, at)}) incoming, fence
        on conflict do nothing returning 1)`,
    ],
    written: `(select count(*) from written_${at})`,
    unconfirmed: 'null',
  };
};

/** `sample`: one reading a key and instant. */
export const writeSample: WriteHistory = (statement, dataset, at) => {
  const names = rowColumns(dataset).join(', ');
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  return {
    ctes: [
      `written_${at} as (
        insert into recorder.${dataset.name} (${names}, observed_at, run_id)
        select ${names}, ${observedAt}, fence.run_id from (${incoming(statement, dataset, at)}) incoming, fence
        on conflict do nothing returning 1)`,
    ],
    written: `(select count(*) from written_${at})`,
    unconfirmed: 'null',
  };
};
