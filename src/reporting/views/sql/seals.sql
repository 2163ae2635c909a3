create or replace view reporting.seals as
select d.seal, s.until as sealed_until, s.made_at as sealed_at, d.dataset, d.rows, d.ends, d.late, d.changes, d.form, d.root,
  d.before, d.head
from recorder.seal_datasets d join recorder.seals s using (seal) where s.made_at is not null;

comment on view reporting.seals is 'What each seal holds of each dataset: a hash over what was recorded, and over what ended, since the seal before.';
comment on column reporting.seals.seal is 'The number of the seal.'; -- integer
comment on column reporting.seals.sealed_until is 'What was recorded before this instant is sealed.'; -- timestamptz
comment on column reporting.seals.sealed_at is 'When it was made.'; -- timestamptz
comment on column reporting.seals.dataset is 'The dataset; health_absences: when an observer did not look.'; -- text
comment on column reporting.seals.rows is 'Rows that were recorded since the seal before; of readings, looks.'; -- bigint
comment on column reporting.seals.ends is 'Rows that ended since the seal before.'; -- bigint
comment on column reporting.seals.late is 'Of both, those that carry an instant before the seal before, such as of a run that continued over midnight.'; -- bigint
comment on column reporting.seals.changes is 'What was done to sealed rows on purpose since the seal before, as it was declared.'; -- text[]
comment on column reporting.seals.form is 'How rows were read: which columns, in which order.'; -- text
comment on column reporting.seals.root is 'The top of the tree of hashes: sha-256 in hex.'; -- text
comment on column reporting.seals.before is 'The head of the dataset in its seal before; null: it is the first.'; -- text
comment on column reporting.seals.head is 'The head of the dataset: sha-256 in hex.'; -- text
