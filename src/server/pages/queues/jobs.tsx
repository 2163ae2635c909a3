import { z } from 'zod';
import {
  type JobState,
  jobStates,
  type QueueContent,
  type QueuedJob,
  queueKeys,
  queueWords,
} from '../../../jobs/queue-content.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { definePage } from '../page.ts';
import { oneOf } from '../page-parameters.ts';
import { Pager } from '../parts/pager.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';

const JOB_STATE_LABELS: Readonly<Record<JobState, string>> = {
  active: 'Active',
  waiting: 'Next',
  prioritized: 'Waiting',
  delayed: 'Delayed',
};

/**
 * Returns the URL of the jobs of a queue in a state.
 * @param after number of jobs to skip
 */
const jobsLink = (queue: string, state: string, after = 0) =>
  hrefOf(`/queues/${queue}`, { state, after: after === 0 ? undefined : after });

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
          <dt>{JOB_STATE_LABELS[state]}</dt>
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
    cell: ({ state }) => <StateBadge is={JOB_STATE_LABELS[state]} />,
  },
  { name: 'Source', cell: ({ feed }) => <code>{feed}</code> },
  {
    name: 'Target',
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

const PAGE_SIZE = 50;

/** `/queues/QUEUE`: the jobs of a queue in a state, page by page. */
export const queueJobsPage = definePage({
  path: '/queues/:queue',
  params: z.strictObject({
    queue: z.string(),
    state: oneOf(jobStates).default('prioritized'),
    after: z
      .string()
      .regex(/^\d{1,7}$/, 'must be a number')
      .transform(Number)
      .default(0),
  }),
  read: async ({ queues }, { queue: named, state, after }) => {
    const queue = queueKeys.find((one) => one === named);
    if (!queue) return null;
    const contents = await queues.readContents();
    const jobs = await queues.jobs(queue, state, after, PAGE_SIZE + 1);
    return { queueContent: contents.find((one) => one.queue === queue), queue, jobs };
  },
  content: ({ queueContent, queue, jobs }, { state, after }) => ({
    title: `${queueWords[queue]}: ${JOB_STATE_LABELS[state].toLowerCase()}`,
    crumbs: [{ href: '/queues', label: 'Queues' }],
    body: (
      <section class="stack">
        <h1>{queueWords[queue]}</h1>
        {queueContent && <Counts of={queueContent} current={state} />}
        <JobsTable
          caption={`${queueWords[queue]}: ${JOB_STATE_LABELS[state].toLowerCase()}`}
          jobs={jobs.slice(0, PAGE_SIZE)}
          empty={
            after > 0
              ? 'This page no longer exists: the queue has become shorter.'
              : 'No job is in this state.'
          }
        />
        <p class="soft">
          Jobs change their state while the list is read, so a job may be on two pages or on none.
        </p>
        <Pager
          next={jobs.length > PAGE_SIZE ? jobsLink(queue, state, after + PAGE_SIZE) : null}
          label="More"
        />
      </section>
    ),
  }),
});
