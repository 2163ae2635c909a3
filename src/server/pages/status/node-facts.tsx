import type { NodeStatus, SpanName } from '../../../reporting/reports/nodes/nodes-status.ts';
import { StateBadge } from '../parts/state.tsx';
import { Lasting, Time } from '../parts/time.tsx';
import { boundsText, uptimeText } from './state-texts.ts';

export function NodeStateBadge({ node }: { readonly node: Pick<NodeStatus, 'state' | 'since'> }) {
  if (node.state === 'unrecorded') return <StateBadge is="unknown">no record yet</StateBadge>;
  return (
    <span>
      <StateBadge is={node.state} />{' '}
      {node.since && (
        <span class="soft">
          <Lasting since={node.since} />
        </span>
      )}
    </span>
  );
}

/**
 * An uptime, with bounds if the state is unknown for some of the time, and with the start of the record if
 * the record starts within the range.
 */
export function UptimeFact({ window }: { readonly window: NodeStatus['spans'][SpanName] }) {
  const bounds = boundsText(window);
  return (
    <>
      {uptimeText(window)}
      {bounds !== null && <small class="soft bounds">{bounds}</small>}
      {window.unrecorded > 0 && window.unrecorded * 1000 < window.to - window.from && (
        <small class="soft bounds">
          since <Time at={new Date(window.from + window.unrecorded * 1000)} exact />
        </small>
      )}
    </>
  );
}
