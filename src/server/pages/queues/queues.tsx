import { z } from 'zod';
import { type QueueContent, queueWords } from '../../../jobs/queue-content.ts';
import { processesNow, type RecorderProcess } from '../../../reporting/reports/processes.ts';
import { readSeenQueues, type SeenQueue } from '../../../reporting/reports/queues.ts';
import { type ScheduleStatus, schedulesNow } from '../../../reporting/reports/schedules.ts';
import { QueueUnavailableError } from '../../queue-unavailable.ts';
import { definePage } from '../page.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { StateBadge } from '../parts/state.tsx';
import { type TableColumn, TableSection } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ProblemNotice, queueUnavailable } from '../problems.tsx';
import { durationWords, numberText } from '../texts.ts';
import { Counts, JobsTable } from './jobs.tsx';
import { ObservedState } from './last-seen.tsx';

const count = (jobs: number | null) => (jobs === null ? '–' : numberText(jobs));

const otherQueueColumns: readonly TableColumn<SeenQueue>[] = [
  { name: 'Recorder', kind: 'name', cell: ({ recorder }) => recorder },
  { name: 'Queue', cell: ({ queue }) => queue },
  { name: 'Active', kind: 'number', cell: ({ active }) => count(active) },
  { name: 'Waiting', kind: 'number', cell: ({ waiting }) => count(waiting) },
  {
    name: 'State',
    kind: 'wide',
    cell: ({ error, error_since, seen_at }) => (
      <ObservedState at={seen_at}>
        {error === null ? (
          <StateBadge is="working" />
        ) : (
          <>
            <StateBadge is="stalled" /> since <Time at={error_since} />: {error}
          </>
        )}
      </ObservedState>
    ),
  },
  { name: 'Last checked', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

const processColumns: readonly TableColumn<RecorderProcess>[] = [
  { name: 'Process', kind: 'name', cell: ({ process }) => <code>{process}</code> },
  {
    name: 'State',
    about:
      'Outdated: the recorder has a newer configuration; the process does only work that both contain. Lost: no heartbeat.',
    cell: ({ state }) => <StateBadge is={state} />,
  },
  { name: 'Recorder', kind: 'name', cell: ({ recorder }) => recorder },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { name: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
  { name: 'Last heartbeat', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

const scheduleColumns: readonly TableColumn<ScheduleStatus>[] = [
  { name: 'Schedule', cell: ({ schedule }) => <code>{schedule}</code> },
  {
    name: 'State',
    cell: ({ missing_since, seen_at }) => (
      <ObservedState at={seen_at}>
        {missing_since ? (
          <StateBadge is="missing">
            missing since <Time at={missing_since} exact />
          </StateBadge>
        ) : (
          <StateBadge is="set" />
        )}
      </ObservedState>
    ),
  },
  { name: 'Every', kind: 'number', cell: ({ every }) => durationWords(every) },
  { name: 'Next', cell: ({ next_at }) => <Time at={next_at} /> },
  { name: 'Last checked', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

/** `/queues`: active and waiting jobs, the processes, and the schedules. */
export const queuesPage = definePage({
  path: '/queues',
  params: z.strictObject({}),
  read: async ({ read, queues: view, recorder }) => {
    const [stored, contents] = await Promise.all([
      read(async (sql) => ({
        schedules: await schedulesNow(sql),
        processes: await processesNow(sql),
        others: (await readSeenQueues(sql)).filter((one) => one.recorder !== recorder.name),
      })),
      view.readContents().catch((error: unknown) => {
        if (error instanceof QueueUnavailableError) return error;
        throw error;
      }),
    ]);
    return { ...stored, contents };
  },
  content: ({ schedules, processes, others, contents }) => ({
    title: 'Queues',
    live: 5,
    body: (
      <>
        <div class="stack">
          <h1>Queues</h1>
          <p class="soft">
            Polls and plans have a separate queue, so that heals do not delay them. Completed jobs are
            removed; their results are in <a href="/runs">all runs</a> and{' '}
            <a href="/runs?status=failed">failed runs</a>. A lost queue does no harm: due work is planned from
            the database.
          </p>
        </div>
        {contents instanceof QueueUnavailableError ? (
          <ProblemNotice problem={queueUnavailable(contents.message)} />
        ) : (
          contents.map((one) => <Queue of={one} />)
        )}
        {others.length > 0 && (
          <TableSection
            id="others"
            caption="Queues of other recorders"
            columns={otherQueueColumns}
            rows={others}
            empty=""
          />
        )}
        <TableSection
          id="processes"
          caption="Processes"
          columns={processColumns}
          rows={processes}
          empty="No process has used this database yet: start chain-recorder up."
        />
        <TableSection
          id="schedules"
          caption="Schedules"
          columns={scheduleColumns}
          rows={schedules}
          empty="No schedule is stored yet: a process with the role scheduler stores the schedules within half a minute."
        />
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
        <ErrorNotice what="This queue is stalled: jobs can be neither added nor started.">
          <p>{of.refusal}</p>
          <p>No data is lost: due work is planned from the database and continues automatically.</p>
        </ErrorNotice>
      )}
      {of.paused && (
        <ErrorNotice what="This queue is paused: no jobs are started.">
          <p>The recorder never pauses a queue: resume it with the tool that paused it.</p>
        </ErrorNotice>
      )}
      <Counts of={of} />
      <JobsTable caption={name} jobs={of.jobs} empty="No job is active or waiting." />
      {all > of.jobs.length && (
        <p class="soft">The first jobs of each state. The numbers above link to all jobs.</p>
      )}
    </section>
  );
}
