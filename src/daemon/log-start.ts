import type { App } from '../app/app.ts';
import type { RunResult } from '../recording/context.ts';
import { beyondBudget, demands } from '../reporting/reports/call-demand.ts';
import { forecast } from '../reporting/reports/forecast.ts';

/**
 * Logs the number of recorded targets and an example query at the start of `up`.
 * @param origin URL of the server; null if this process has no server
 */
export function logStart(app: App, queue: string, origin: string | null): void {
  const { log, watched, sandbox } = app;
  if (sandbox)
    log.info(
      { sandbox: sandbox.url },
      app.configFile === null
        ? 'no recorder.yaml: recording the bundled sandbox network; "chain-recorder init" writes one for a real network'
        : 'recording the bundled sandbox network: the configuration names no upstreams',
    );
  const targets = watched.reduce((sum, feed) => sum + feed.targets.length, 0);
  log.info(
    {
      schedules: watched.length,
      targets,
      queue,
      database: app.embeddedDirectory ? 'embedded' : 'DATABASE_URL',
    },
    'recording started',
  );
  const pages = origin === null ? {} : { pages: origin, status: `${origin}/api/status` };
  log.info({ ...pages, query: EXAMPLE_QUERY }, 'the recorder can be queried');
}

/** Example command for a first query. */
const EXAMPLE_QUERY = 'chain-recorder query "select * from freshness"';

/** Warns about each upstream whose daily budget is below the demand of the schedules. */
export async function logBudgets({ log, config, database, watched, clock }: App): Promise<void> {
  for (const demand of demands(await forecast(database.sql, watched, clock()), config)) {
    const beyond = beyondBudget(demand);
    if (beyond !== null) log.warn({ ...demand }, beyond);
  }
}

/** Logs the rows of the runs since the last call, and the total number of rows. */
export async function logProgress({ log, database }: App, results: readonly RunResult[]): Promise<void> {
  const rows: Record<string, number> = {};
  for (const { datasets, rowsWritten } of results)
    datasets.forEach((dataset, at) => {
      rows[dataset] = (rows[dataset] ?? 0) + (rowsWritten[at] ?? 0);
    });
  const failed = results.filter(({ status }) => status === 'failed').length;
  const all = await database.sql<{ dataset: string; rows: number }[]>`
    select dataset, sum(rows_written)::float8 as rows from reporting.freshness group by dataset order by dataset`;
  const inAll = Object.fromEntries(all.map((one) => [one.dataset, one.rows]));
  log.info({ runs: results.length, failed, rows, in_all: inAll }, 'recorded');
}
