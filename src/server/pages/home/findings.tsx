import type { FindingGroup } from '../../../reporting/reports/findings.ts';
import type { WatchedNode } from '../../../reporting/reports/nodes/watched-nodes.ts';
import type { LivingRecorder } from '../../../reporting/reports/processes.ts';
import type { Status } from '../../../reporting/reports/status.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { relationPath } from '../datasets/relation-head.tsx';
import { datasetNamed } from '../datasets/relations.ts';
import type { RecorderFacts } from '../page.ts';
import { StateBadge, type Tone } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { countText, numberText } from '../texts.ts';

interface VerdictProps {
  readonly status: Status;
  readonly recorders: readonly LivingRecorder[];
  readonly nodes: readonly WatchedNode[];
  readonly recorder: RecorderFacts;
  readonly since: Date | null;
}

/** The overall state: healthy, or the number of problems. */
export function HealthSummary({ status, recorders, nodes, recorder, since }: VerdictProps) {
  const waiting = status.datasets.reduce((sum, one) => sum + one.never_recorded, 0);
  const rows = status.datasets.reduce((sum, one) => sum + one.rows_today, 0);
  const [tone, words] = verdictOf(status, nodes, waiting);
  return (
    <div class="stack">
      <h1 class={`verdict ${tone}`}>{words}</h1>
      <p class="soft">
        {recorder.simulated ? 'The simulated network' : `The network ${recorder.network}`}
        {since && (
          <>
            , since <Time at={since} exact />
          </>
        )}
        . {numberText(rows)} rows today
        {waiting > 0 &&
          `; ${countText(waiting, 'target')} of ${numberText(targetsOf(status))} wait for their first run`}
        .
      </p>
      <Recorders all={recorders} own={recorder.name} />
      <p class="soft">
        <a href="/quarantine">{countText(status.quarantined, 'item')} in quarantine</a>,{' '}
        <a href="/discrepancies">
          {countText(
            status.discrepancies.reduce((sum, { open }) => sum + open, 0),
            'discrepancy',
            'discrepancies',
          )}
        </a>
        , <a href="/datasets/gaps">{countText(status.gaps, 'gap')}</a>.{' '}
        {status.seal ? (
          <>
            Sealed until <Time at={status.seal.sealed_until} exact />.
          </>
        ) : (
          'Not sealed yet: a day is sealed one hour after its end (UTC).'
        )}
      </p>
    </div>
  );
}

/**
 * Returns the tone and the text of the overall state. The worst problem comes first. Before the first
 * recording, the state is not healthy.
 */
function verdictOf(
  status: Status,
  nodes: readonly WatchedNode[],
  waiting: number,
): readonly [tone: Tone, words: string] {
  const found = status.findings.reduce((sum, { count }) => sum + count, 0);
  const down = nodes.filter(({ state }) => state === 'down').length;
  const troubles = [
    ...(down > 0 ? [`${countText(down, 'node')} down`] : []),
    ...(found > 0 ? [`${countText(found, 'finding')} ${found === 1 ? 'needs' : 'need'} attention`] : []),
  ];
  if (troubles.length > 0) return ['bad', troubles.join(', ')];
  if (waiting > 0) return ['busy', 'The first recording is in progress'];
  if (targetsOf(status) + nodes.length === 0) return ['idle', 'Nothing is recorded yet'];
  return ['good', 'Recording is healthy'];
}

/**
 * The recorders that write to this database; empty if there are no other recorders. The pages contain the
 * data of all recorders.
 */
function Recorders({ all, own }: { readonly all: readonly LivingRecorder[]; readonly own: string }) {
  if (all.every(({ recorder }) => recorder === own)) return null;
  const words = all.map(
    ({ recorder, network, processes }) =>
      `${recorder} (${network}, ${countText(processes, 'process', 'processes')})`,
  );
  return (
    <p class="soft">
      <a href="/queues#processes">{countText(all.length, 'recorder')}</a>{' '}
      {all.length === 1 ? 'writes' : 'write'} to this database: {words.join(', ')}. These pages show the data
      of all of them and are served by {own}.
    </p>
  );
}

const targetsOf = ({ datasets }: Status) => datasets.reduce((sum, { targets }) => sum + targets, 0);

/** The findings with their reasons; empty if there are no findings. */
export function Findings({ findings }: { readonly findings: readonly FindingGroup[] }) {
  if (findings.length === 0) return null;
  const [first, others] = [findings.slice(0, MAX_OPEN_FINDINGS), findings.slice(MAX_OPEN_FINDINGS)];
  const table = (caption: string, rows: readonly FindingGroup[]) => (
    <Table stacked caption={caption} columns={columns} rows={rows} empty="" />
  );
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Needs attention</h2>
      {table('Problems', first)}
      {others.length > 0 && (
        <details id="more-findings">
          <summary>{numberText(others.length)} more</summary>
          {table('Other problems', others)}
        </details>
      )}
    </section>
  );
}

/**
 * Maximum number of groups of findings that are not collapsed, the worst first. With more groups, the nodes
 * below would not be visible without scrolling.
 */
const MAX_OPEN_FINDINGS = 10;

/** Pages with details, by the kind of finding. */
const DETAILS: Readonly<Partial<Record<FindingGroup['component'], string>>> = {
  schedule: '/queues#schedules',
  queue: '/queues',
  process: '/queues#processes',
  workers: '/queues#processes',
  server: '/queues#processes',
};

const columns: readonly TableColumn<FindingGroup>[] = [
  { name: 'State', cell: ({ state }) => <StateBadge is={state} /> },
  { name: 'Component', cell: ({ component, dataset }) => <code>{dataset ?? component}</code> },
  {
    name: 'Subject',
    kind: 'wide',
    cell: ({ subject, count }) => (
      <>
        <span class="clip" title={subject}>
          {subject}
        </span>
        {count > 1 && <span class="soft">and {numberText(count - 1)} more</span>}
      </>
    ),
  },
  { name: 'Since', cell: ({ since }) => <Time at={since} /> },
  { name: 'Reason', kind: 'wide', cell: ({ reason }) => reason },
  {
    name: 'Details',
    cell: ({ component, dataset, subject, count }) => {
      if (component === 'target' && dataset) {
        const path = relationPath(datasetNamed(dataset)?.now.name ?? dataset, 'coverage');
        return (
          <>
            <a href={hrefOf('/runs', { dataset })}>runs</a>{' '}
            <a href={hrefOf(path, { target: count === 1 ? subject : null })}>missing data</a>
          </>
        );
      }
      const details = DETAILS[component];
      return details ? <a href={details}>queues</a> : <code>chain-recorder doctor</code>;
    },
  },
];
