create or replace view reporting_internal.exports as
select e.recorder, e.destination, e.datasets, e.format, make_interval(secs => e.every_ms / 1000.0) as expected_every, e.requested_since, e.began_at,
  e.last_success_at, e.exported_at, now() - coalesce(e.exported_at, e.requested_since) as age, e.export::bigint as export, e.rows, e.bytes,
  e.last_failure_at, e.failing_since, e.failures::bigint as failures, e.error
from recorder.exports e;

comment on view reporting_internal.exports is 'The scheduled exports (exports in recorder.yaml) and their state. The manifest of an export contains the end of the exported data for each table.';
comment on column reporting_internal.exports.recorder is 'The recorder whose configuration contains the export.'; -- text
comment on column reporting_internal.exports.destination is 'The target of the export: a folder, or s3://BUCKET/PREFIX.'; -- text
comment on column reporting_internal.exports.datasets is 'The exported datasets. Null: all datasets.'; -- text[]
comment on column reporting_internal.exports.format is 'File format: parquet, csv or jsonl.'; -- text
comment on column reporting_internal.exports.expected_every is 'Interval of the export.'; -- interval
comment on column reporting_internal.exports.requested_since is 'Time since which the export is configured.'; -- timestamptz
comment on column reporting_internal.exports.began_at is 'Start of the last export. Null: no export has started. If the start is later than the last success and failure, the export is running, or was killed and will be repeated.'; -- timestamptz
comment on column reporting_internal.exports.last_success_at is 'End of the last successful export. Null: no export has succeeded.'; -- timestamptz
comment on column reporting_internal.exports.exported_at is 'Time up to which the recorded data is exported. Null: nothing is exported yet.'; -- timestamptz
comment on column reporting_internal.exports.age is 'Age of the exported data; for an export that never succeeded, the time since its configuration.'; -- interval
comment on column reporting_internal.exports.export is 'Number of the last export in its manifest.'; -- bigint
comment on column reporting_internal.exports.rows is 'Rows that the last export wrote.'; -- bigint
comment on column reporting_internal.exports.bytes is 'Bytes that the last export wrote.'; -- bigint
comment on column reporting_internal.exports.last_failure_at is 'Time of the last failure.'; -- timestamptz
comment on column reporting_internal.exports.failing_since is 'Start of the consecutive failures. Null: the last export succeeded.'; -- timestamptz
comment on column reporting_internal.exports.failures is 'Number of consecutive failures.'; -- bigint
comment on column reporting_internal.exports.error is 'Error of the last failed export.'; -- text
