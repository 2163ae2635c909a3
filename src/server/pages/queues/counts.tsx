import type { JobState, QueueLook } from '../../../jobs/queue-look.ts';
import { linkTo } from '../page-queries.ts';
import { numberText } from '../texts.ts';
import { STATES } from './jobs-table.tsx';

/** The address of the jobs of a queue in a state. @param after how many of them are left out */
export const jobsLink = (queue: string, state: string, after = 0) =>
  linkTo(`/queues/${queue}`, { state, after: after === 0 ? undefined : after });

/** How many jobs of a queue do what, each a link to them. @param shown those that are on this page */
export function Counts({
  of: { queue, counts },
  shown,
}: {
  readonly of: QueueLook;
  readonly shown?: JobState;
}) {
  return (
    <dl class="facts uptimes">
      {counts.map(({ state, jobs }) => (
        <div key={state}>
          <dt>{STATES[state].label}</dt>
          <dd>
            <a href={jobsLink(queue, state)} aria-current={state === shown ? 'page' : undefined}>
              {numberText(jobs)}
            </a>
          </dd>
        </div>
      ))}
    </dl>
  );
}
