import type { App } from '../app.ts';
import { clockSkew, TOLERATED_SKEW } from '../db/clock-skew.ts';
import { messageOf } from '../errors.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import type { Job } from '../recording/job.ts';
import { beyondBudget, demands } from '../reports/demand.ts';
import { discrepanciesInWords, discrepancyCounts } from '../reports/discrepancies.ts';
import { findingGroups, inWords } from '../reports/findings.ts';
import { forecast } from '../reports/forecast.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable } from './output.ts';

const PATIENCE = 10_000;

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
}

/** `doctor`: configuration, database, queue, each upstream and the clock. @returns 1 where something must be mended */
export async function doctorCommand(app: App, options: { json: boolean }): Promise<number> {
  const findings = [
    configuration(app),
    await database(app),
    await clock(app),
    await queue(app),
    ...(await recording(app)),
    await sources(app),
    ...(await budgets(app)),
    ...(await upstreams(app)),
  ];
  if (options.json) printJson(findings);
  else
    printTable(
      findings.map(({ check, ok, found }) => ({ '': ok ? 'ok' : 'MEND', check, found })),
      '',
    );
  return findings.every(({ ok }) => ok) ? exitCode.done : exitCode.failed;
}

function configuration({ watched, sandbox }: App): Finding {
  const targets = watched.reduce((sum, feed) => sum + feed.targets.length, 0);
  const found = `${watched.length} schedules, ${targets} targets${sandbox ? ', from the bundled sandbox: no recorder.yaml' : ''}`;
  return {
    check: 'configuration',
    ok: targets > 0,
    found: targets > 0 ? found : `${found}: add something to watch`,
  };
}

async function database({ database: { sql }, embedded }: App): Promise<Finding> {
  const [row] = await sql<{ version: string; size: string }[]>`
    select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`;
  return {
    check: 'database',
    ok: true,
    found: `PostgreSQL ${row?.version}${embedded ? ' (embedded)' : ''}, ${row?.size}`,
  };
}

async function clock({ database: { sql }, clock }: App): Promise<Finding> {
  const skew = await clockSkew(sql, clock);
  const ok = Math.abs(skew) <= TOLERATED_SKEW;
  const found = ok
    ? `within ${Math.abs(skew)} ms of the database`
    : `the database is ${skew} ms ahead: run NTP on both machines`;
  return { check: 'clock', ok, found };
}

async function queue({ config, environment, databaseUrl, log }: App): Promise<Finding> {
  const kind = environment.redisUrl ? 'redis' : 'postgres';
  const impatience = new AbortController();
  try {
    const backend = openBackend({ redisUrl: environment.redisUrl, databaseUrl }, log, impatience.signal);
    return await Promise.race([
      backend.then((opened) => lookAtQueue(opened, queueNames(config.name).polls)),
      timeout(),
    ]);
  } catch (error) {
    return { check: 'queue', ok: false, found: `${kind}: ${messageOf(error)}` };
  } finally {
    impatience.abort();
  }
}

async function lookAtQueue(backend: QueueBackend, polls: string): Promise<Finding> {
  const opened = await backend.queue(polls);
  try {
    const schedules = await opened.getJobSchedulers();
    const policy = await opened.evictionPolicy();
    if (policy !== null && policy !== 'noeviction')
      return {
        check: 'queue',
        ok: false,
        found: `Redis evicts keys (${policy}): set maxmemory-policy noeviction`,
      };
    return { check: 'queue', ok: true, found: `${backend.kind}, ${schedules.length} schedules set` };
  } finally {
    await opened.close().catch(() => {});
    await backend.close();
  }
}

/** What stands still or lacks something. What fails is seen by asking the upstreams. */
async function recording({ database: { sql } }: App): Promise<Finding[]> {
  const groups = (await findingGroups(sql)).filter(({ state }) => state !== 'failing');
  if (groups.length === 0)
    return [{ check: 'recording', ok: true, found: 'everything that is wanted moves, and is complete' }];
  return groups.map((group) => ({ check: 'recording', ok: false, found: inWords(group) }));
}

/** What sources contradict each other in: the record holds both sides, and there is nothing to mend here. */
async function sources({ database: { sql } }: App): Promise<Finding> {
  const counts = await discrepancyCounts(sql);
  const found = `discrepancies: ${discrepanciesInWords(counts)}`;
  return {
    check: 'sources',
    ok: true,
    found: counts.length === 0 ? found : `${found}: chain-recorder report discrepancies`,
  };
}

/** Whether what the schedules ask in a day fits into the budgets that are declared. */
async function budgets({ config, database: { sql }, watched, clock }: App): Promise<Finding[]> {
  return demands(await forecast(sql, watched, clock()), config).flatMap((demand): Finding[] => {
    const beyond = beyondBudget(demand);
    const { upstream, unitsPerDay, allowedPerDay } = demand;
    if (beyond !== null) return [{ check: 'budget', ok: false, found: beyond }];
    if (allowedPerDay === null) return []; // the check of the upstream itself says so
    const found = `${upstream}: the schedules ask for ${unitsPerDay} units a day of ${allowedPerDay}`;
    return [{ check: 'budget', ok: true, found }];
  });
}

/** Asks each upstream one cheap question that its feeds would ask anyway. */
async function upstreams(app: App): Promise<Finding[]> {
  const asked = new Map<string, Promise<Finding>>();
  for (const feed of app.watched) {
    for (const target of feed.targets) {
      const name = feed.source.upstream === 'nodes' ? `nodes/${target.node}` : feed.source.upstream;
      if (asked.has(name)) continue;
      const now = app.clock();
      const job: Job = {
        target,
        window: feed.source.range ? { from: now - 60_000, to: now } : null,
        reason: 'manual',
      };
      asked.set(name, upstream(app, name, feed, job));
    }
  }
  return Promise.all(asked.values());
}

async function upstream(app: App, name: string, feed: App['watched'][number], job: Job): Promise<Finding> {
  const asking = {
    weight: feed.source.weight,
    priority: 'poll' as const,
    signal: AbortSignal.timeout(PATIENCE * 2),
    clock: app.clock,
  };
  const started = Date.now();
  try {
    const ask = app.recording.open(feed, job, asking);
    for await (const _ of feed.source.walk(ask, job.target, job.window)) break;
    const unlimited =
      feed.source.upstream !== 'nodes' &&
      app.config.upstreams[feed.source.upstream]?.budget === undefined &&
      !app.sandbox;
    const advice = unlimited ? '; no budget is declared, so only its 429 answers slow the recorder down' : '';
    return {
      check: name,
      ok: true,
      found: `answered ${feed.source.name} in ${Date.now() - started} ms${advice}`,
    };
  } catch (error) {
    return { check: name, ok: false, found: `${feed.source.name}: ${messageOf(error)}` };
  }
}

function timeout(): Promise<never> {
  return new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE).unref(),
  );
}
