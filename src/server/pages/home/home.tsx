import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { z } from 'zod';
import { type DiskUse, fullAt } from '../../../reporting/reports/disk.ts';
import {
  readStalledLedgers,
  sortByUrgency,
  type WatchedNode,
  watchedNodes,
} from '../../../reporting/reports/nodes/watched-nodes.ts';
import { livingRecorders } from '../../../reporting/reports/processes.ts';
import { readRecentChanges } from '../../../reporting/reports/recent-changes.ts';
import { definePage, type RecorderFacts } from '../page.ts';
import { Meter } from '../parts/meter.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn, TableSection } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { NotListed } from '../status/node-parts.tsx';
import { bytesText, durationWords } from '../texts.ts';
import { ValidatorsTable } from '../validators/validators.tsx';
import { CurrentView } from '../view.ts';
import { Budgets } from './budgets.tsx';
import { Changes } from './changes.tsx';
import { byNeed, datasetColumns } from './datasets.tsx';
import { Findings, HealthSummary } from './findings.tsx';

/** Time after the start of the recording in which the next steps are displayed, in ms. */
const FIRST_STEPS_MS = 3 * 86_400_000;

interface NextStepsProps {
  readonly recorder: RecorderFacts;
  readonly since: Date | null;
}

/** Next steps, which are displayed in the first days, and always for a simulated network. */
function NextSteps({ recorder: { simulated, directory }, since }: NextStepsProps) {
  const { now } = useContext(CurrentView);
  if (!simulated && since !== null && now - since.getTime() > FIRST_STEPS_MS) return null;
  const steps: ComponentChildren[] = [
    ...(simulated
      ? [
          <>
            This is a simulated network for exploration. To record a real network, run{' '}
            <code>chain-recorder init</code> in another directory. The command prompts for the network, your
            nodes and the objects to watch, writes <code>recorder.yaml</code> and checks each service. Then
            start the recorder there.
          </>,
        ]
      : []),
    <>
      <code>chain-recorder doctor</code> checks the configuration and every service;{' '}
      <code>chain-recorder plan</code> compares the planned requests with your limits.
    </>,
    <>
      Run a query:{' '}
      <code>
        chain-recorder query "select node_id, stake_navax from validators order by 2 desc nulls last limit 10"
      </code>
    </>,
    <>
      Store the head of a seal elsewhere, so that later changes of the recorded data can be detected:{' '}
      <code>chain-recorder seal --out seal.txt</code>
    </>,
    ...(directory === null
      ? []
      : [
          <>
            The database is embedded, in <code>.recorder/</code> of the directory where the recorder was
            started: include it in your backups, or set <code>DATABASE_URL</code>.
          </>,
        ]),
  ];
  return (
    <section class="panel" aria-labelledby="next">
      <h2 id="next">Next steps</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
    </section>
  );
}

/** Maximum number of listed nodes. A longer list would be slow to render. */
const MAX_NODES = 200;

function Nodes({ nodes }: { readonly nodes: readonly WatchedNode[] }) {
  const ordered = sortByUrgency(nodes);
  return (
    <section class="panel" aria-labelledby="nodes">
      <h2 id="nodes">Node status</h2>
      <Table
        stacked
        caption="Node status"
        columns={columns}
        rows={ordered.slice(0, MAX_NODES)}
        empty="No nodes are configured. Add your nodes to upstreams.nodes in recorder.yaml."
      />
      {ordered.length > MAX_NODES && <NotListed nodes={ordered.slice(MAX_NODES)} />}
    </section>
  );
}

const columns: readonly TableColumn<WatchedNode>[] = [
  { name: 'Node', kind: 'name', cell: ({ node }) => <a href={serverLinks.node(node)}>{node}</a> },
  {
    name: 'Health',
    cell: ({ state }) => <StateBadge is={state === 'unrecorded' ? 'no record yet' : state} />,
  },
  { name: 'Since', cell: ({ since }) => <Time at={since} /> },
  {
    name: 'Reason',
    kind: 'wide',
    cell: ({ error, failing_checks, unready }) =>
      error ?? (failing_checks.join(', ') || (unready ? 'not ready' : '')),
  },
];

/** `/`: the overall state at a glance. */
export const homePage = definePage({
  path: '/',
  params: z.strictObject({}),
  read: async ({ read, status, demands, disk, validators, recorder, site, clock }) => {
    const [{ nodes, changes, recorders, since }, now, needed, space, mine] = await Promise.all([
      read(async (sql) => ({
        nodes: await watchedNodes(sql, site.nodes, await readStalledLedgers(sql), clock()),
        changes: await readRecentChanges(sql),
        recorders: await livingRecorders(sql),
        since:
          (await sql<{ at: Date | null }[]>`select min(requested_since) as at from reporting.freshness`)[0]
            ?.at ?? null,
      })),
      status(),
      orNullIfLate(demands()),
      orNullIfLate(disk()),
      orNullIfLate(validators(), VALIDATORS_TIMEOUT_MS),
    ]);
    return { status: now, nodes, changes, recorders, demands: needed, disk: space, mine, recorder, since };
  },
  content: ({ status, nodes, changes, recorders, demands, disk, mine, recorder, since }) => ({
    title: 'chain-recorder',
    live: 10,
    body: (
      <>
        <HealthSummary
          status={status}
          recorders={recorders}
          nodes={nodes}
          recorder={recorder}
          since={since}
        />
        <section aria-labelledby="validators">
          <h2 id="validators">
            <a href="/validators">My validators</a>
          </h2>
          <ValidatorsTable all={mine} />
        </section>
        <Findings findings={status.findings} />
        <div class="panels">
          <Nodes nodes={nodes} />
          <Changes of={changes} />
          <Budgets budgets={status.budgets} demands={demands} />
          {disk && <Disk use={disk} embedded={recorder.directory !== null} />}
        </div>
        <NextSteps recorder={recorder} since={since} />
        <TableSection
          id="datasets"
          caption="Recorded datasets"
          columns={datasetColumns}
          rows={byNeed(status.datasets)}
          empty="Nothing is recorded: the configuration names no service and no node. Add them to recorder.yaml."
        />
      </>
    ),
  }),
});

/** Maximum wait for optional parts of the page, in ms. */
const OPTIONAL_DATA_TIMEOUT_MS = 300;
/**
 * Maximum wait for the user's validators, in ms. The wait is longer, because they are an important part of
 * the page.
 */
const VALIDATORS_TIMEOUT_MS = 3_000;

/**
 * Returns a result, or null after a timeout or an error. The next refresh of the page may contain the result.
 */
async function orNullIfLate<T>(answer: Promise<T>, timeoutMs = OPTIONAL_DATA_TIMEOUT_MS): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, null);
  });
  return Promise.race([answer.catch(() => null), late]).finally(() => clearTimeout(timer));
}

/** The disk usage of the record, and the time until the disk is full. */
function Disk({ use, embedded }: { readonly use: DiskUse; readonly embedded: boolean }) {
  const { database, largest, perDay, free } = use;
  const { now } = useContext(CurrentView);
  const full = fullAt(use, now);
  const share = free === null ? null : database / (database + free);
  return (
    <section class="panel" aria-labelledby="disk">
      <h2 id="disk">Disk usage</h2>
      <p class="head">
        <span>
          <strong>{bytesText(database)}</strong> recorded
        </span>
        <span class="soft">{free === null ? '' : `${bytesText(free)} free`}</span>
      </p>
      {share !== null && (
        <Meter
          share={share}
          tone={share > 0.9 ? 'bad' : 'busy'}
          label={`${Math.round(share * 100)} % of the space is used`}
        />
      )}
      <p class="soft small">
        {perDay === null
          ? 'The growth per day is shown after three sealed days.'
          : `Growth: ${bytesText(perDay)} a day. `}
        {perDay !== null && full !== null && `The disk is full in ${durationWords((full - now) / 1000)}.`}
        {free === null && !embedded && ' The free space of an external database server is unknown.'}
      </p>
      <ol class="shares">
        {largest
          .filter(({ bytes }) => bytes > 0)
          .map(({ dataset, bytes }) => (
            <li>
              <code>{dataset}</code> <span class="number">{bytesText(bytes)}</span>
            </li>
          ))}
      </ol>
    </section>
  );
}
