import type { RecorderProcess } from '../../../reporting/reports/processes.ts';
import { State, type Tone } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** The processes of all recorders that write to this database. */
export function Processes({ of }: { readonly of: readonly RecorderProcess[] }) {
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <Table
        caption="Processes"
        columns={columns}
        rows={of}
        keyOf={({ process }) => process}
        empty="No process is known: up was never started on this database."
      />
    </section>
  );
}

const STATES: Readonly<Record<RecorderProcess['state'], { readonly label: string; readonly tone: Tone }>> = {
  running: { label: 'runs', tone: 'good' },
  outdated: { label: 'has an older configuration', tone: 'warn' },
  lost: { label: 'gives no sign of life', tone: 'bad' },
  stopped: { label: 'stopped', tone: 'idle' },
};

const columns: readonly Column<RecorderProcess>[] = [
  { name: 'Process', kind: 'name', cell: ({ process }) => <code>{process}</code> },
  {
    name: 'State',
    about: 'Of a recorder the newest configuration decides; older processes do what both know.',
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
  { name: 'Last sign of life', cell: ({ seen_at }) => <Time at={seen_at} /> },
];
