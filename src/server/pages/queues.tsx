import { z } from 'zod';
import { messageOf } from '../../errors.ts';
import type { QueuedJob, QueueLook } from '../../jobs/queue-look.ts';
import { type Schedule, schedulesNow } from '../../reports/schedules.ts';
import { definePage } from './page.ts';
import { KeyValues } from './parts/key-values.tsx';
import { Problem } from './parts/problem.tsx';
import { State } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';
import { Time } from './parts/time.tsx';
import { durationWords, numberText } from './texts.ts';

/** `/queues`: what is at work, what waits, and when the schedules tick. */
export const queues = definePage({
  path: '/queues',
  asked: z.strictObject({}),
  read: async ({ read, queues: look }) => {
    const [schedules, looks] = await Promise.all([
      read(schedulesNow),
      look().catch((error: unknown) => messageOf(error)),
    ]);
    return { schedules, looks };
  },
  content: ({ schedules, looks }) => ({
    title: 'Queues',
    live: 5,
    body: (
      <>
        <div class="stack">
          <h1>Queues</h1>
          <p class="soft">
            Polls and plans have a queue of their own, so that no amount of healing makes them wait. Jobs that
            ended are gone from here: <a href="/runs">the runs</a> tell how they went. What is in a queue may
            be lost; what is recorded, missing and due is known to the database.
          </p>
        </div>
        {typeof looks === 'string' ? (
          <Problem what="The queue gives no answer." details={[looks]}>
            <p>
              Nothing is lost: what is due meanwhile is planned from the database when the queue is back, and
              looks at nodes go on without it.
            </p>
          </Problem>
        ) : (
          looks.map((one) => <Queue of={one} key={one.name} />)
        )}
        <section aria-labelledby="schedules">
          <h2 id="schedules">Schedules</h2>
          <Table
            caption="Schedules"
            columns={scheduleColumns}
            rows={schedules}
            keyOf={({ schedule }) => schedule}
            empty="No schedule was seen yet: a process with the role scheduler writes them down within half a minute."
          />
        </section>
      </>
    ),
  }),
});

function Queue({ of: { name, counts, jobs } }: { readonly of: QueueLook }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <KeyValues
        of={counts.map(({ state, jobs: count }) => [STATES[state].label, numberText(count)] as const)}
      />
      <Table
        caption={name}
        columns={jobColumns}
        rows={jobs}
        keyOf={({ id }) => id}
        empty="Nothing is at work, and nothing waits."
      />
    </section>
  );
}

const STATES = {
  active: { label: 'At work', tone: 'busy' },
  waiting: { label: 'Goes next', tone: 'good' },
  prioritized: { label: 'Waits', tone: 'idle' },
  delayed: { label: 'Waits for its time', tone: 'idle' },
} as const;

const jobColumns: readonly Column<QueuedJob>[] = [
  { name: 'What', cell: ({ what }) => what },
  {
    name: 'State',
    cell: ({ state }) => (
      <State is={state} tone={STATES[state].tone}>
        {STATES[state].label}
      </State>
    ),
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
  { name: 'Since, or when', cell: ({ at }) => <Time at={at} /> },
  { name: 'Tries', kind: 'number', cell: ({ attempts }) => numberText(attempts) },
  { name: 'Failed last because', kind: 'wide', cell: ({ failure }) => failure ?? '–' },
];

const scheduleColumns: readonly Column<Schedule>[] = [
  { name: 'Schedule', cell: ({ schedule }) => <code>{schedule}</code> },
  {
    name: 'State',
    cell: ({ missing_since }) =>
      missing_since ? (
        <State is="missing" tone="bad">
          missing since <Time at={missing_since} exact />
        </State>
      ) : (
        <State is="set" tone="good" />
      ),
  },
  { name: 'Every', kind: 'number', cell: ({ every }) => durationWords(every) },
  { name: 'Next', cell: ({ next_at }) => <Time at={next_at} /> },
  { name: 'Seen', cell: ({ seen_at }) => <Time at={seen_at} /> },
];
