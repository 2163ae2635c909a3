import type { SeenQueue } from '../../../reporting/reports/queues.ts';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';
import { ObservedState } from './last-seen.tsx';

/** The queues of other recorders on this database, in the state that they stored. */
export function OtherQueues({ of }: { readonly of: readonly SeenQueue[] }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="others">
      <h2 id="others">Queues of other recorders</h2>
      <Table
        caption="Queues of other recorders"
        columns={columns}
        rows={of}
        keyOf={({ recorder, queue }) => `${recorder} ${queue}`}
        empty=""
      />
    </section>
  );
}

const count = (jobs: number | null) => (jobs === null ? '–' : numberText(jobs));

const columns: readonly Column<SeenQueue>[] = [
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
