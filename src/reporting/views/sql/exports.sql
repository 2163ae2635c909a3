create or replace view reporting.exports as
select e.recorder, e.place, e.datasets, e.format, make_interval(secs => e.every_ms / 1000.0) as expected_every, e.requested_since, e.began_at,
  e.last_success_at, e.exported_at, now() - coalesce(e.exported_at, e.requested_since) as age, e.export::bigint as export, e.rows, e.bytes,
  e.last_failure_at, e.failing_since, e.failures::bigint as failures, e.error
from recorder.exports e;

comment on view reporting.exports is 'The exports by schedule (exports in recorder.yaml), and how each stands. Up to when a table of one is exported says its manifest.';
comment on column reporting.exports.recorder is 'The recorder whose configuration asks for it.'; -- text
comment on column reporting.exports.place is 'Where it goes: a folder, or s3://BUCKET/PREFIX.'; -- text
comment on column reporting.exports.datasets is 'Which datasets; null: all.'; -- text[]
comment on column reporting.exports.format is 'parquet, csv or jsonl.'; -- text
comment on column reporting.exports.expected_every is 'How often it is made.'; -- interval
comment on column reporting.exports.requested_since is 'Since when it is asked for.'; -- timestamptz
comment on column reporting.exports.began_at is 'When the last one began; null: none did. Where it is later than the last success and failure, it is under way, or was killed and is made again.'; -- timestamptz
comment on column reporting.exports.last_success_at is 'When the last one that succeeded ended; null: none did.'; -- timestamptz
comment on column reporting.exports.exported_at is 'Up to when the record is exported; null: not at all.'; -- timestamptz
comment on column reporting.exports.age is 'How old that is; of what was never exported, since it is asked for.'; -- interval
comment on column reporting.exports.export is 'The number of the last export in its manifest.'; -- bigint
comment on column reporting.exports.rows is 'The rows that it wrote.'; -- bigint
comment on column reporting.exports.bytes is 'The bytes that it wrote.'; -- bigint
comment on column reporting.exports.last_failure_at is 'When one last failed.'; -- timestamptz
comment on column reporting.exports.failing_since is 'Since when each one failed; null: the last one succeeded.'; -- timestamptz
comment on column reporting.exports.failures is 'How many in a row failed.'; -- bigint
comment on column reporting.exports.error is 'Why the last one failed.'; -- text
