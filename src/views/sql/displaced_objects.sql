create or replace view reporting.displaced_objects as
select d.object, d.kind, d.owner, d.script, d.reason, d.displaced_at
from recorder.displaced_objects d;

comment on view reporting.displaced_objects is 'Views and functions of users that stood upon what a migration changed and could not be made again.';
comment on column reporting.displaced_objects.object is 'Its name.'; -- text
comment on column reporting.displaced_objects.kind is 'view or routine.'; -- text
comment on column reporting.displaced_objects.owner is 'Whose it was.'; -- text
comment on column reporting.displaced_objects.script is 'The statements that made it, with its comments and rights.'; -- text
comment on column reporting.displaced_objects.reason is 'Why it could not be made again.'; -- text
comment on column reporting.displaced_objects.displaced_at is 'When that was.'; -- timestamptz
