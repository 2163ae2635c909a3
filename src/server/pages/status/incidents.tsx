import { useContext } from 'preact/hooks';
import type { NodeIncident } from '../../../reporting/reports/nodes/node-record.ts';
import { lastedText } from '../../../reporting/reports/uptime.ts';
import { Empty } from '../parts/empty.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { CurrentLinks } from './links.ts';

/**
 * Incidents, each with the messages of the node.
 * @param named whether each incident contains the name of its node
 */
export function Incidents({
  incidents,
  named,
  empty,
}: {
  readonly incidents: readonly NodeIncident[];
  readonly named: boolean;
  readonly empty: string;
}) {
  const links = useContext(CurrentLinks);
  if (incidents.length === 0) return <Empty>{empty}</Empty>;
  return (
    <ol class="incidents">
      {incidents.map((incident) => (
        <li>
          <p class="head">
            <span>
              {incident.ended_at === null ? (
                <StateBadge is="down">ongoing</StateBadge>
              ) : (
                <StateBadge is="resolved">resolved</StateBadge>
              )}{' '}
              {named && <a href={links.node(incident.node)}>{incident.node}</a>}
            </span>
            <span class="soft">
              <Time at={incident.started_at} exact /> {incident.ended_at === null ? 'ongoing for ' : 'for '}
              {lastedText(incident)}
            </span>
          </p>
          <CheckMessages incident={incident} />
        </li>
      ))}
    </ol>
  );
}

/** The messages of the node by check, or the messages of the whole probe if no check failed. */
function CheckMessages({
  incident: { checks, first_error, last_error, noticed_by },
}: {
  readonly incident: NodeIncident;
}) {
  const checkEntries = Object.entries(checks).sort();
  return (
    <>
      <ul class="words">
        {checkEntries.length === 0 && (
          <li>
            <ErrorMessages first={first_error} last={last_error} />
          </li>
        )}
        {checkEntries.map(([check, { first_error: first, last_error: last }]) => (
          <li>
            <code>{check}</code> <ErrorMessages first={first} last={last} />
          </li>
        ))}
      </ul>
      {noticed_by.length > 1 && <p class="soft">Observed by {noticed_by.join(', ')}.</p>}
    </>
  );
}

function ErrorMessages({ first, last }: { readonly first: string | null; readonly last: string | null }) {
  if (first === null) return <span class="soft">no error message</span>;
  return (
    <>
      <q>{first}</q>
      {last !== null && last !== first && (
        <>
          , last: <q>{last}</q>
        </>
      )}
    </>
  );
}
