import type { JobState, QueueContent } from '../../../jobs/queue-content.ts';
import { linkTo } from '../page-parameters.ts';
import { numberText } from '../texts.ts';
import { JOB_STATE_LABELS } from './jobs-table.tsx';

/**
 * Returns the URL of the jobs of a queue in a state.
 * @param after number of jobs to skip
 */
export const jobsLink = (queue: string, state: string, after = 0) =>
  linkTo(`/queues/${queue}`, { state, after: after === 0 ? undefined : after });

/**
 * The numbers of jobs of a queue by state, each with a link to the jobs.
 * @param current state of the jobs that the page lists
 */
export function Counts({
  of: { queue, counts },
  current,
}: {
  readonly of: QueueContent;
  readonly current?: JobState;
}) {
  return (
    <dl class="facts uptimes">
      {counts.map(({ state, jobs }) => (
        <div>
          <dt>{JOB_STATE_LABELS[state].label}</dt>
          <dd>
            <a href={jobsLink(queue, state)} aria-current={state === current ? 'page' : undefined}>
              {numberText(jobs)}
            </a>
          </dd>
        </div>
      ))}
    </dl>
  );
}
