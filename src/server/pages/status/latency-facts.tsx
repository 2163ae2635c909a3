import type { Latency } from '../../../reports/nodes/node-record.ts';

/** Response times as facts of a list of them. @param over of which time */
export function LatencyFacts({ latency, over }: { readonly latency: Latency | null; readonly over: string }) {
  return (
    <div>
      <dt>Response p50 / p95 / p99, {over}</dt>
      <dd>{latency === null ? 'no record' : latencyText(latency)}</dd>
    </div>
  );
}

/** `12.5 / 31.2 / 1204 ms`. What is stored differs from the exact ones by at most 5 %. */
export const latencyText = ({ p50, p95, p99 }: Latency) =>
  `${[p50, p95, p99].map((one) => (one < 100 ? one.toPrecision(3) : String(Math.round(one)))).join(' / ')} ms`;
