import type { JobState, QueuedJob } from '../../../jobs/queue-look.ts';
import { State, type Tone } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';

/** Labels of the states of jobs. */
export const JOB_STATE_LABELS: Readonly<Record<JobState, { readonly label: string; readonly tone: Tone }>> = {
  active: { label: 'At work', tone: 'busy' },
  waiting: { label: 'Next', tone: 'good' },
  prioritized: { label: 'Waiting', tone: 'idle' },
  delayed: { label: 'Delayed', tone: 'idle' },
};

/**
 * A table of jobs.
 * @param empty notice if there are none
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
  return (
    <Table stacked caption={caption} columns={columns} rows={jobs} keyOf={({ id }) => id} empty={empty} />
  );
}

const columns: readonly Column<QueuedJob>[] = [
  { name: 'What', cell: ({ what }) => what },
  {
    name: 'State',
    evident: true,
    cell: ({ state }) => (
      <State is={state} tone={JOB_STATE_LABELS[state].tone}>
        {JOB_STATE_LABELS[state].label}
      </State>
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
    name: 'Since or due',
    about: 'Since when the job is active or waiting, or when a delayed job is due.',
    cell: ({ at }) => <Time at={at} />,
  },
  {
    name: 'Tries',
    about: 'Attempts so far, of the maximum.',
    kind: 'number',
    cell: ({ attempts, most }) =>
      most > 1 ? `${numberText(attempts)} of ${numberText(most)}` : numberText(attempts),
  },
  { name: 'Last error', kind: 'wide', cell: ({ failure }) => failure },
];
