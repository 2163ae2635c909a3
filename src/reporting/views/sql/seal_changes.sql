create or replace view reporting_internal.seal_changes as
select dataset, kind, reason, before_at, declared_at, seal from recorder.seal_changes;

comment on view reporting_internal.seal_changes is 'Intended changes of sealed rows, as declared by the person who made them.';
comment on column reporting_internal.seal_changes.dataset is 'The dataset.'; -- text
comment on column reporting_internal.seal_changes.kind is 'resealed: values were rewritten, and all rows were sealed again; removed: rows were deleted.'; -- text
comment on column reporting_internal.seal_changes.reason is 'Reason of the change.'; -- text
comment on column reporting_internal.seal_changes.before_at is 'For removed: rows with an instant before this time were deleted.'; -- timestamptz
comment on column reporting_internal.seal_changes.declared_at is 'Time of the declaration.'; -- timestamptz
comment on column reporting_internal.seal_changes.seal is 'The first seal after the change. Null: no seal was made after the change.'; -- integer
