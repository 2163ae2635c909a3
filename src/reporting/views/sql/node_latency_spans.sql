create or replace view reporting_internal.node_latency_spans as
select l.observer, l.node, l.probe, l.span, l.starts_at, l.entries
from recorder.health_latency l;

comment on view reporting_internal.node_latency_spans is 'Response times as stored: packed histograms of weeks by hour, and of months by day. reporting.node_latency reads them.';
comment on column reporting_internal.node_latency_spans.observer is 'The observer: the name of its recorder.'; -- text
comment on column reporting_internal.node_latency_spans.node is 'The configured node.'; -- text
comment on column reporting_internal.node_latency_spans.probe is 'The probe.'; -- text
comment on column reporting_internal.node_latency_spans.span is 'Length of the span: week (from Thursday; kept for 3 weeks) or month.'; -- text
comment on column reporting_internal.node_latency_spans.starts_at is 'Start of the span (UTC).'; -- timestamptz
comment on column reporting_internal.node_latency_spans.entries is 'Packed histograms: an entry of four bytes (slot, bucket, count high, count low) for each hour or day and bucket. The first bytes of all entries come first, then the second bytes, and so on.'; -- bytea
