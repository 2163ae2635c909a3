import { z } from 'zod';
import { type QueueContent, queueWords } from '../../../jobs/queue-look.ts';
import { processesNow } from '../../../reporting/reports/processes.ts';
import { queuesSeen } from '../../../reporting/reports/queues.ts';
import { schedulesNow } from '../../../reporting/reports/schedules.ts';
import { QueueUnavailableError } from '../../queue-unavailable.ts';
import { definePage } from '../page.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { ProblemNotice, queueUnavailable } from '../problems.tsx';
import { Counts } from './counts.tsx';
import { JobsTable } from './jobs-table.tsx';
import { OtherQueues } from './other-queues.tsx';
import { Processes } from './processes.tsx';
import { Schedules } from './schedules.tsx';

/** `/queues`: active and waiting jobs, the processes, and the schedules. */
export const queues = definePage({
  path: '/queues',
  asked: z.strictObject({}),
  read: async ({ read, queues: view, recorder }) => {
    const [stored, looks] = await Promise.all([
      read(async (sql) => ({
        schedules: await schedulesNow(sql),
        processes: await processesNow(sql),
        others: (await queuesSeen(sql)).filter((one) => one.recorder !== recorder.name),
      })),
      view.look().catch((error: unknown) => {
        if (error instanceof QueueUnavailableError) return error;
        throw error;
      }),
    ]);
    return { ...stored, looks };
  },
  content: ({ schedules, processes, others, looks }) => ({
    title: 'Queues',
    live: 5,
    body: (
      <>
        <div class="stack">
          <h1>Queues</h1>
          <p class="soft">
            Polls and plans have a queue of their own, so that no amount of healing makes them wait. Jobs that
            ended are gone from here: <a href="/runs">the runs</a> tell how they went, and{' '}
            <a href="/runs?status=failed">which failed</a>. What is in a queue may be lost; what is recorded,
            missing and due is known to the database.
          </p>
        </div>
        {looks instanceof QueueUnavailableError ? (
          <ProblemNotice problem={queueUnavailable(looks.message)} />
        ) : (
          looks.map((one) => <Queue of={one} key={one.queue} />)
        )}
        <OtherQueues of={others} />
        <Processes of={processes} />
        <Schedules of={schedules} />
      </>
    ),
  }),
});

function Queue({ of }: { readonly of: QueueContent }) {
  const name = queueWords[of.queue];
  const all = of.counts.reduce((sum, { jobs }) => sum + jobs, 0);
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {of.refusal !== null && (
        <ErrorNotice what="This queue stands: nothing can be put into it, or taken out of it.">
          <p>{of.refusal}</p>
          <p>Nothing is lost: what is due and missing is known to the database, and continues by itself.</p>
        </ErrorNotice>
      )}
      {of.paused && (
        <ErrorNotice what="This queue is paused: nothing is taken out of it.">
          <p>The recorder never pauses it: resume it with the tool that did.</p>
        </ErrorNotice>
      )}
      <Counts of={of} />
      <JobsTable caption={name} jobs={of.jobs} empty="No job is active or waiting." />
      {all > of.jobs.length && (
        <p class="soft">The first of each kind. The numbers above lead to all of them.</p>
      )}
    </section>
  );
}
