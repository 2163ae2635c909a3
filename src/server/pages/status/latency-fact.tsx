import type { Latency } from '../../../reporting/reports/nodes/node-record.ts';
import type { Span } from '../../../reporting/reports/nodes/windows.ts';
import { windowText } from './state-texts.ts';

/**
 * Response times of a range, as an item of a list of facts. The item contains the range if it differs from
 * the requested range.
 */
export function LatencyFact({
  latency,
  params,
}: {
  readonly latency: Latency | null;
  readonly params: Span;
}) {
  const exact = latency?.over.from === params.from && latency.over.to === params.to;
  return (
    <div>
      <dt>Response p50 / p95 / p99</dt>
      <dd>
        {latency === null
          ? 'no record'
          : `${[latency.p50, latency.p95, latency.p99].map(millisecondsText).join(' / ')} ms`}
        {latency !== null && !exact && <small class="soft bounds">{windowText(latency.over)}</small>}
      </dd>
    </div>
  );
}

/** Response times below another fact of the same range. */
export function LatencyNote({ latency }: { readonly latency: Latency | null }) {
  if (latency === null) return null;
  const { p50, p95, p99 } = latency;
  return (
    <small class="soft bounds" title="Response times: median, 95th and 99th percentile">
      response p50 {millisecondsText(p50)}, p95 {millisecondsText(p95)}, p99 {millisecondsText(p99)} ms
    </small>
  );
}

/**
 * Formats a response time with at least three digits. More digits would be inaccurate, because stored times
 * differ from the measured times by up to 5 %.
 */
const millisecondsText = (time: number) => (time < 100 ? time.toPrecision(3) : String(Math.round(time)));
