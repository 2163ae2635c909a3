create or replace view reporting.incident_notes as
select n.id, n.node, n.at, n.author, n.note, n.written_at
from recorder.incident_notes n;

comment on view reporting.incident_notes is 'Notes of people about incidents of a node, in addition to the ledger. Notes are added by command and never changed.';
comment on column reporting.incident_notes.id is 'The id of the note.'; -- integer
comment on column reporting.incident_notes.node is 'The configured node.'; -- text
comment on column reporting.incident_notes.at is 'The moment to which the note refers.'; -- timestamptz
comment on column reporting.incident_notes.author is 'The author of the note.'; -- text
comment on column reporting.incident_notes.note is 'The text of the note.'; -- text
comment on column reporting.incident_notes.written_at is 'Time at which the note was written.'; -- timestamptz
