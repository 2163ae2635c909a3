import { z } from 'zod';
import { type QueueContent, queueWords } from '../../../jobs/queue-look.ts';
import { processesNow, type RecorderProcess } from '../../../reporting/reports/processes.ts';
import { queuesSeen, type SeenQueue } from '../../../reporting/reports/queues.ts';
import { type Schedule, schedulesNow } from '../../../reporting/reports/schedules.ts';
import { QueueUnavailableError } from '../../queue-unavailable.ts';
import { definePage } from '../page.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { State, type Tone } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ProblemNotice, queueUnavailable } from '../problems.tsx';
import { durationWords, numberText } from '../texts.ts';
import { Counts } from './counts.tsx';
import { JobsTable } from './jobs-table.tsx';
import { ObservedState } from './last-seen.tsx';

/** The queues of other recorders on this database, in the state that they stored. */
function OtherQueues({ of }: { readonly of: readonly SeenQueue[] }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="others">
      <h2 id="others">Queues of other recorders</h2>
      <Table
        caption="Queues of other recorders"
        columns={otherQueueColumns}
        rows={of}
        keyOf={({ recorder, queue }) => `${recorder} ${queue}`}
        empty=""
      />
    </section>
  );
}

const count = (jobs: number | null) => (jobs === null ? '–' : numberText(jobs));

const otherQueueColumns: readonly Column<SeenQueue>[] = [
  { name: 'Recorder', kind: 'name', cell: ({ recorder }) => recorder },
  { name: 'Queue', cell: ({ queue }) => queue },
  { name: 'At work', kind: 'number', cell: ({ active }) => count(active) },
  { name: 'Waits', kind: 'number', cell: ({ waiting }) => count(waiting) },
  {
    name: 'State',
    kind: 'wide',
    cell: ({ error, error_since, seen_at }) => (
      <ObservedState at={seen_at}>
        {error === null ? (
          <State is="moves" tone="good" />
        ) : (
          <>
            <State is="stands" tone="bad" /> since <Time at={error_since} />: {error}
          </>
        )}
      </ObservedState>
    ),
  },
  { name: 'Seen', cell: ({ seen_at }) => <Time at={seen_at} /> },
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
        keyOf={({ process }) => process}
        empty="No process has used this database yet: start chain-recorder up."
      />
    </section>
  );
}

const STATES: Readonly<Record<RecorderProcess['state'], { readonly label: string; readonly tone: Tone }>> = {
  running: { label: 'runs', tone: 'good' },
  outdated: { label: 'has an older configuration', tone: 'warn' },
  lost: { label: 'no heartbeat', tone: 'bad' },
  stopped: { label: 'stopped', tone: 'idle' },
};

const processColumns: readonly Column<RecorderProcess>[] = [
  { name: 'Process', kind: 'name', cell: ({ process }) => <code>{process}</code> },
  {
    name: 'State',
    about:
      'The newest configuration of a recorder applies; older processes do only work that both configurations contain.',
    cell: ({ state }) => (
      <State is={state} tone={STATES[state].tone}>
        {STATES[state].label}
      </State>
    ),
  },
  { name: 'Recorder', kind: 'name', cell: ({ recorder }) => recorder },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Does', cell: ({ roles }) => roles.join(', ') },
  { name: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
  { name: 'Last heartbeat', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

/** The schedules of all sources, with the next time of each. */
function Schedules({ of }: { readonly of: readonly Schedule[] }) {
  return (
    <section aria-labelledby="schedules">
      <h2 id="schedules">Schedules</h2>
      <Table
        caption="Schedules"
        columns={scheduleColumns}
        rows={of}
        keyOf={({ schedule }) => schedule}
        empty="No schedule is stored yet: a process with the role scheduler stores the schedules within half a minute."
      />
    </section>
  );
}

const scheduleColumns: readonly Column<Schedule>[] = [
  { name: 'Schedule', cell: ({ schedule }) => <code>{schedule}</code> },
  {
    name: 'State',
    cell: ({ missing_since, seen_at }) => (
      <ObservedState at={seen_at}>
        {missing_since ? (
          <State is="missing" tone="bad">
            missing since <Time at={missing_since} exact />
          </State>
        ) : (
          <State is="set" tone="good" />
        )}
      </ObservedState>
    ),
  },
  { name: 'Every', kind: 'number', cell: ({ every }) => durationWords(every) },
  { name: 'Next', cell: ({ next_at }) => <Time at={next_at} /> },
  { name: 'Seen', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

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
            Polls and plans have a queue of their own, so that heals do not delay them. Ended jobs are
            removed: <a href="/runs">the runs</a> show their results, and{' '}
            <a href="/runs?status=failed">which failed</a>. The queue can be lost: the database knows what is
            recorded, missing and due.
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
        <ErrorNotice what="This queue is stalled: jobs can be neither added nor started.">
          <p>{of.refusal}</p>
          <p>Nothing is lost: due and missing work is in the database, and continues automatically.</p>
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
