import { z } from 'zod';
import { readStalledLedgers, watchedNodes } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { livingRecorders } from '../../../reporting/reports/processes.ts';
import { readRecentChanges } from '../../../reporting/reports/recent-changes.ts';
import { definePage } from '../page.ts';
import { Table } from '../parts/table.tsx';
import { MyValidators } from '../validators/validators.tsx';
import { Budgets } from './budgets.tsx';
import { Changes } from './changes.tsx';
import { byNeed, datasetColumns } from './datasets.tsx';
import { Disk } from './disk.tsx';
import { Findings, Verdict } from './findings.tsx';
import { NextSteps } from './next-steps.tsx';
import { Nodes } from './nodes.tsx';

/** `/`: the overall state at a glance. */
export const home = definePage({
  path: '/',
  asked: z.strictObject({}),
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
        <Verdict status={status} recorders={recorders} nodes={nodes} recorder={recorder} since={since} />
        <MyValidators all={mine} />
        <Findings findings={status.findings} />
        <div class="panels">
          <Nodes nodes={nodes} />
          <Changes of={changes} />
          <Budgets budgets={status.budgets} demands={demands} />
          {disk && <Disk use={disk} embedded={recorder.directory !== null} />}
        </div>
        <NextSteps recorder={recorder} since={since} />
        <section aria-labelledby="datasets">
          <h2 id="datasets">What is recorded</h2>
          <Table
            caption="What is recorded"
            columns={datasetColumns}
            rows={byNeed(status.datasets)}
            keyOf={({ dataset }) => dataset}
            empty="Nothing is wanted: the configuration names no service and no node. Name some in recorder.yaml."
          />
        </section>
      </>
    ),
  }),
});

/** Maximum wait for optional parts of the page, in ms. */
const OPTIONAL_DATA_TIMEOUT_MS = 300;
/** Maximum wait for the user's validators, in ms: they are the first part of the page. */
const VALIDATORS_TIMEOUT_MS = 3_000;

/** Returns a result, or null if it is late or failed. The page refreshes, and shows it then. */
async function orNullIfLate<T>(answer: Promise<T>, timeoutMs = OPTIONAL_DATA_TIMEOUT_MS): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, null);
  });
  return Promise.race([answer.catch(() => null), late]).finally(() => clearTimeout(timer));
}
