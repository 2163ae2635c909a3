create or replace view reporting.seals as
select d.seal, s.until as sealed_until, s.made_at as sealed_at, d.dataset, d.rows, d.ends, d.late, d.changes, d.form, d.root,
  d.before, d.head
from recorder.seal_datasets d join recorder.seals s using (seal) where s.made_at is not null;

comment on view reporting.seals is 'The part of each seal about each dataset: a hash of the data that was recorded or ended since the previous seal.';
comment on column reporting.seals.seal is 'The number of the seal.'; -- integer
comment on column reporting.seals.sealed_until is 'Data that was recorded before this instant is sealed.'; -- timestamptz
comment on column reporting.seals.sealed_at is 'Time at which the seal was made.'; -- timestamptz
comment on column reporting.seals.dataset is 'The dataset; health_absences: absences of observers.'; -- text
comment on column reporting.seals.rows is 'Number of rows that were recorded since the previous seal; for readings, the number of observations.'; -- bigint
comment on column reporting.seals.ends is 'Number of rows that ended since the previous seal.'; -- bigint
comment on column reporting.seals.late is 'Number of these rows and ends whose instant is before the previous seal, such as the rows of a run that continued over midnight.'; -- bigint
comment on column reporting.seals.changes is 'Declared changes of sealed rows since the previous seal.'; -- text[]
comment on column reporting.seals.form is 'Form of the hashed rows: the columns and their order.'; -- text
comment on column reporting.seals.root is 'Root of the hash tree: SHA-256 in hexadecimal.'; -- text
comment on column reporting.seals.before is 'Previous head of the dataset. Null: the seal is the first seal of the dataset.'; -- text
comment on column reporting.seals.head is 'Head of the dataset: SHA-256 in hexadecimal.'; -- text
