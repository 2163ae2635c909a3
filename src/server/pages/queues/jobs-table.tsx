import type { JobState, QueuedJob } from '../../../jobs/queue-content.ts';
import { StateBadge, type Tone } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';

/** Labels of the states of jobs. */
export const JOB_STATE_LABELS: Readonly<Record<JobState, { readonly label: string; readonly tone: Tone }>> = {
  active: { label: 'Active', tone: 'busy' },
  waiting: { label: 'Next', tone: 'good' },
  prioritized: { label: 'Waiting', tone: 'idle' },
  delayed: { label: 'Delayed', tone: 'idle' },
};

/**
 * A table of jobs.
 * @param empty notice if there are no jobs
 */
export function JobsTable({
  caption,
  jobs,
  empty,
}: {
  readonly caption: string;
  readonly jobs: readonly QueuedJob[];
  readonly empty: string;
}) {
  return <Table stacked caption={caption} columns={columns} rows={jobs} empty={empty} />;
}

const columns: readonly TableColumn<QueuedJob>[] = [
  { name: 'Job', cell: ({ what }) => what },
  {
    name: 'State',
    evident: true,
    cell: ({ state }) => (
      <StateBadge is={state} tone={JOB_STATE_LABELS[state].tone}>
        {JOB_STATE_LABELS[state].label}
      </StateBadge>
    ),
  },
  { name: 'Source', evident: true, cell: ({ feed }) => <code>{feed}</code> },
  {
    name: 'Target',
    evident: true,
    cell: ({ target }) => (
      <code class="clip" title={target}>
        {target || '–'}
      </code>
    ),
  },
  {
    name: 'Started or due',
    about: 'Start of the active or waiting state, or the due time of a delayed job.',
    cell: ({ at }) => <Time at={at} />,
  },
  {
    name: 'Attempts',
    about: 'Number of attempts, and their maximum.',
    kind: 'number',
    cell: ({ attempts, most }) =>
      most > 1 ? `${numberText(attempts)} of ${numberText(most)}` : numberText(attempts),
  },
  { name: 'Last error', kind: 'wide', cell: ({ failure }) => failure },
];
