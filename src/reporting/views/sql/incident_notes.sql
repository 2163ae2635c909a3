create or replace view reporting.incident_notes as
select n.id, n.node, n.at, n.author, n.note, n.written_at
from recorder.incident_notes n;

comment on view reporting.incident_notes is 'What people wrote about the troubles of a node, beside the ledger. Notes are added by command, and never changed.';
comment on column reporting.incident_notes.id is 'Its number.'; -- integer
comment on column reporting.incident_notes.node is 'The configured node.'; -- text
comment on column reporting.incident_notes.at is 'The moment that it is about.'; -- timestamptz
comment on column reporting.incident_notes.author is 'Who wrote it.'; -- text
comment on column reporting.incident_notes.note is 'What they wrote.'; -- text
comment on column reporting.incident_notes.written_at is 'When it was written.'; -- timestamptz
