import type { Schedule } from '../../../reporting/reports/schedules.ts';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { durationWords } from '../texts.ts';
import { ObservedState } from './last-seen.tsx';

/** The schedules of all sources, with the next time of each. */
export function Schedules({ of }: { readonly of: readonly Schedule[] }) {
  return (
    <section aria-labelledby="schedules">
      <h2 id="schedules">Schedules</h2>
      <Table
        caption="Schedules"
        columns={columns}
        rows={of}
        keyOf={({ schedule }) => schedule}
        empty="No schedule was seen yet: a process with the role scheduler writes them down within half a minute."
      />
    </section>
  );
}

const columns: readonly Column<Schedule>[] = [
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
