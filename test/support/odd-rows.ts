import { MAX_UINT256 } from '../warehouse/synthetic.ts';

/**
 * SQL that adds rows to a recorded database that a query may count wrongly: a value of more than 38 digits that
 * replaced another one, a point that vanished, moments close to midnight, and the validator of an L1.
 */
export const ODD_ROWS = `
  with series as (
    insert into recorder.metric_points_series (chain_id, metric, time_interval) values ('777', 'made up', 'day') returning series_id)
  insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, vanished, run_id)
  select series_id, day::timestamptz, value, at::timestamptz, until::timestamptz, vanished, 1 from series, (values
    ('2026-03-01T00:00Z', 1.5, '2026-03-02T00:30Z', '2026-03-03T23:45Z', false),
    ('2026-03-01T00:00Z', ${MAX_UINT256}, '2026-03-03T23:45Z', null, false),
    ('2026-03-02T00:00Z', 2, '2026-03-03T00:30Z', '2026-03-04T00:30Z', false),
    ('2026-03-02T00:00Z', 2, '2026-03-04T00:30Z', null, true)) as point (day, value, at, until, vanished);
  update recorder.validators set validation_id = 'made up' where ctid = (select min(ctid) from recorder.validators)`;
