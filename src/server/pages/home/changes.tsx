import { useContext } from 'preact/hooks';
import type {
  Departure,
  Outage,
  RecentChanges,
  Revision,
} from '../../../reporting/reports/recent-changes.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { relationPath } from '../datasets/relation-head.tsx';
import { Empty } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { countText, durationWords, numberText } from '../texts.ts';
import { avaxOfNavax } from '../validators/charts.tsx';
import { avaxText } from '../validators/columns.tsx';
import { CurrentView } from '../view.ts';

/** The notable changes of the last week, the newest first. */
export function Changes({ of }: { readonly of: RecentChanges }) {
  const all = [
    ...of.outages.map((one) => ({ at: one.started_at, words: <OutageWords of={one} /> })),
    ...of.departures.map((one) => ({ at: one.at, words: <DepartureWords of={one} /> })),
    ...of.revisions.map((one) => ({ at: one.at, words: <RevisionWords of={one} /> })),
  ].sort((a, b) => b.at.getTime() - a.at.getTime());
  return (
    <section class="panel" aria-labelledby="changes">
      <h2 id="changes">Recent changes, last 7 days</h2>
      {all.length === 0 && (
        <Empty>No node was down, no validator left, and no completed day changed by more than 1 %.</Empty>
      )}
      <ul class="events">
        {all.map(({ at, words }) => (
          <li>
            <span class="soft">
              <Time at={at} />
            </span>
            <span>{words}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function OutageWords({
  of: { node, started_at, ended_at, down_seconds, error, times },
}: {
  readonly of: Outage;
}) {
  const { now } = useContext(CurrentView);
  const [from, to] = [started_at.getTime(), ended_at?.getTime() ?? now];
  const around = {
    from: new Date(from - MARGIN_MS).toISOString(),
    to: new Date(Math.min(to + MARGIN_MS, now)).toISOString(),
  };
  return (
    <>
      <strong>{node}</strong> {ended_at ? 'was' : 'is'}{' '}
      <a href={serverLinks.range(node, around) ?? serverLinks.node(node)}>
        down for {durationWords(down_seconds)}
      </a>
      {times > 1 && `, ${numberText(times)} times`}
      {error && `: ${error}`}
    </>
  );
}

function DepartureWords({
  of: { node_id, subnet_id, stake_navax, weight, expired, reported_by },
}: {
  readonly of: Departure;
}) {
  return (
    <>
      validator{' '}
      <a href={hrefOf('/datasets/node_validators_changes', { node_id, subnet_id, change: 'left' })}>
        <code title={node_id}>{shortened(node_id)}</code>
      </a>{' '}
      {expired === null ? 'left' : expired ? 'completed its validation' : <strong>left early</strong>}
      {subnet_id !== PRIMARY && (
        <>
          {' '}
          on <code title={subnet_id}>{shortened(subnet_id)}</code>
        </>
      )}
      {stake_navax !== null
        ? `, stake ${avaxText(avaxOfNavax(stake_navax))} AVAX`
        : weight !== null && `, weight ${numberText(weight)}`}
      <span class="soft"> reported by {countText(reported_by.length, 'node')}</span>
    </>
  );
}

function RevisionWords({
  of: { chain_id, metric, bucket_start, before, after, share },
}: {
  readonly of: Revision;
}) {
  const point = { chain_id, metric, time_interval: 'day', bucket_start: bucket_start.toISOString() };
  return (
    <>
      <code>{metric}</code> of chain {chain_id} on {bucket_start.toISOString().slice(0, 10)} was revised by{' '}
      <a href={hrefOf(relationPath('metric_points', 'row'), point)}>
        <strong>
          {share > 0 ? '+' : '−'}
          {Math.abs(share * 100).toFixed(1)} %
        </strong>
      </a>
      <span class="soft">
        {' '}
        from {numberText(before)} to {numberText(after)}
      </span>
    </>
  );
}

/** Time before and after an outage in the range of its link, in ms. */
const MARGIN_MS = 30 * 60_000;
/** Subnet id of the primary network. */
const PRIMARY = '11111111111111111111111111111111LpoYY';
const shortened = (id: string) => (id.length > 20 ? `${id.slice(0, 13)}…${id.slice(-4)}` : id);
