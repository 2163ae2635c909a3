create or replace view reporting_internal.seal_changes as
select dataset, kind, reason, before_at, declared_at, seal from recorder.seal_changes;

comment on view reporting_internal.seal_changes is 'What was done to sealed rows on purpose, as declared by the person who did it.';
comment on column reporting_internal.seal_changes.dataset is 'The dataset.'; -- text
comment on column reporting_internal.seal_changes.kind is 'resealed: values were written anew, and all rows were sealed again; removed: rows were taken out.'; -- text
comment on column reporting_internal.seal_changes.reason is 'Why.'; -- text
comment on column reporting_internal.seal_changes.before_at is 'Of removed: rows whose instant is before.'; -- timestamptz
comment on column reporting_internal.seal_changes.declared_at is 'When it was declared.'; -- timestamptz
comment on column reporting_internal.seal_changes.seal is 'The first seal after it; null: none yet.'; -- integer
