import { z } from 'zod';
import { type QueueContent, queueWords } from '../../../jobs/queue-content.ts';
import { processesNow, type RecorderProcess } from '../../../reporting/reports/processes.ts';
import { readSeenQueues, type SeenQueue } from '../../../reporting/reports/queues.ts';
import { type ScheduleStatus, schedulesNow } from '../../../reporting/reports/schedules.ts';
import { QueueUnavailableError } from '../../queue-unavailable.ts';
import { definePage } from '../page.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { StateBadge, type Tone } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ProblemNotice, queueUnavailable } from '../problems.tsx';
import { durationWords, numberText } from '../texts.ts';
import { Counts } from './counts.tsx';
import { JobsTable } from './jobs-table.tsx';
import { ObservedState } from './last-seen.tsx';

/** The queues of other recorders on this database, with their last stored states. */
function OtherQueues({ of }: { readonly of: readonly SeenQueue[] }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="others">
      <h2 id="others">Queues of other recorders</h2>
      <Table caption="Queues of other recorders" columns={otherQueueColumns} rows={of} empty="" />
    </section>
  );
}

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
          <StateBadge is="working" tone="good" />
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

/** The processes of all recorders that write to this database. */
function Processes({ of }: { readonly of: readonly RecorderProcess[] }) {
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <Table
        caption="Processes"
        columns={processColumns}
        rows={of}
        empty="No process has used this database yet: start chain-recorder up."
      />
    </section>
  );
}

const STATES: Readonly<Record<RecorderProcess['state'], { readonly label: string; readonly tone: Tone }>> = {
  running: { label: 'runs', tone: 'good' },
  outdated: { label: 'older configuration', tone: 'warn' },
  lost: { label: 'no heartbeat', tone: 'bad' },
  stopped: { label: 'stopped', tone: 'idle' },
};

const processColumns: readonly TableColumn<RecorderProcess>[] = [
  { name: 'Process', kind: 'name', cell: ({ process }) => <code>{process}</code> },
  {
    name: 'State',
    about:
      'The newest configuration of a recorder applies; older processes do only work that both configurations contain.',
    cell: ({ state }) => (
      <StateBadge is={state} tone={STATES[state].tone}>
        {STATES[state].label}
      </StateBadge>
    ),
  },
  { name: 'Recorder', kind: 'name', cell: ({ recorder }) => recorder },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { name: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
  { name: 'Last heartbeat', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

/** The schedules of all sources, each with its next time. */
function Schedules({ of }: { readonly of: readonly ScheduleStatus[] }) {
  return (
    <section aria-labelledby="schedules">
      <h2 id="schedules">Schedules</h2>
      <Table
        caption="Schedules"
        columns={scheduleColumns}
        rows={of}
        empty="No schedule is stored yet: a process with the role scheduler stores the schedules within half a minute."
      />
    </section>
  );
}

const scheduleColumns: readonly TableColumn<ScheduleStatus>[] = [
  { name: 'Schedule', cell: ({ schedule }) => <code>{schedule}</code> },
  {
    name: 'State',
    cell: ({ missing_since, seen_at }) => (
      <ObservedState at={seen_at}>
        {missing_since ? (
          <StateBadge is="missing" tone="bad">
            missing since <Time at={missing_since} exact />
          </StateBadge>
        ) : (
          <StateBadge is="set" tone="good" />
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
