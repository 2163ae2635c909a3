import { z } from 'zod';
import { jobStates, queueKeys, queueWords } from '../../../jobs/queue-content.ts';
import { definePage } from '../page.ts';
import { oneOf } from '../page-parameters.ts';
import { Older } from '../parts/older.tsx';
import { Counts, jobsLink } from './counts.tsx';
import { JOB_STATE_LABELS, JobsTable } from './jobs-table.tsx';

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
    title: `${queueWords[queue]}: ${JOB_STATE_LABELS[state].label.toLowerCase()}`,
    crumbs: [{ href: '/queues', label: 'Queues' }],
    body: (
      <section class="stack">
        <h1>{queueWords[queue]}</h1>
        {queueContent && <Counts of={queueContent} current={state} />}
        <JobsTable
          caption={`${queueWords[queue]}: ${JOB_STATE_LABELS[state].label.toLowerCase()}`}
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
        <Older
          href={jobs.length > PAGE_SIZE ? jobsLink(queue, state, after + PAGE_SIZE) : null}
          label="More"
        />
      </section>
    ),
  }),
});
