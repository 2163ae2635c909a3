import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import { unreachableHeight } from '../datasets/sources/confirmed-block.ts';
import { MAX_DATABASE_CLOCK_SKEW_MS, measureClockSkew } from '../db/clock-skew.ts';
import { ormOf, tableText } from '../db/orm.ts';
import { coverage } from '../db/schema/bookkeeping.ts';
import type { CheckResult } from '../lib/check-result.ts';
import type { Clock } from '../lib/clock.ts';
import { formatTime } from '../lib/output-stream.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { createConfiguration, HEARTBEAT_TIMEOUT_SECONDS } from '../recording/configuration.ts';
import { OTHER_NETWORK_FIX } from '../recording/process-registration.ts';
import { findTargetConflicts } from '../recording/register.ts';
import { beyondBudget, demands } from '../reporting/reports/call-demand.ts';
import { describeDiscrepancies, discrepancyCounts } from '../reporting/reports/discrepancies.ts';
import { describeFinding, findingGroups } from '../reporting/reports/findings.ts';
import { forecast } from '../reporting/reports/forecast.ts';

/**
 * Checks the state of the recording in the database.
 * @param config null if the configuration is invalid
 */
export async function checkRecording(
  sql: postgres.Sql,
  config: Config | null,
  watched: readonly ConfiguredFeed[],
  clock: Clock,
): Promise<CheckResult[]> {
  return [
    await clocks(sql, clock),
    ...(await recording(sql)),
    ...(await heights(sql, clock)),
    await sources(sql),
    ...(config ? await checkProcesses(sql, config, watched) : []),
    ...(config ? await budgets(sql, config, watched, clock) : []),
  ];
}

async function clocks(sql: postgres.Sql, clock: Clock): Promise<CheckResult> {
  const skew = await measureClockSkew(sql, clock);
  if (Math.abs(skew) <= MAX_DATABASE_CLOCK_SKEW_MS)
    return { check: 'clock', ok: true, found: `within ${Math.abs(skew)} ms of the database` };
  const found = `the clock of the database is ${Math.abs(skew)} ms ${skew > 0 ? 'ahead' : 'behind'}`;
  return { check: 'clock', ok: false, found, fix: 'run NTP on both machines' };
}

/** Returns the findings of the watchdog. Failing targets are covered by the checks of the upstreams. */
async function recording(sql: postgres.Sql): Promise<CheckResult[]> {
  const groups = (await findingGroups(sql)).filter(
    ({ state, component }) => state !== 'failing' || component !== 'target',
  );
  if (groups.length === 0) return [await recordedSoFar(sql)];
  return groups.map((group) => ({
    check: 'recording',
    ok: false,
    found: describeFinding(group, formatTime),
  }));
}

/**
 * Returns the number of recorded targets if there is no finding, so that an empty record is not reported as
 * complete.
 */
async function recordedSoFar(sql: postgres.Sql): Promise<CheckResult> {
  const [row] = await sql<{ targets: number; recorded: number }[]>`
    select count(*)::int as targets, count(last_success_at)::int as recorded from reporting.freshness`;
  const { targets = 0, recorded = 0 } = row ?? {};
  if (recorded === 0)
    return {
      check: 'recording',
      ok: true,
      nothingToCheck: true,
      found: 'nothing has been recorded yet: "chain-recorder up" starts recording',
    };
  const pending = targets - recorded;
  const found =
    pending > 0
      ? `${recorded} of ${targets} targets are recorded, ${pending} have had no successful run yet`
      : `all ${targets} targets are recorded and complete`;
  return { check: 'recording', ok: true, ...(pending > 0 && { nothingToCheck: true }), found };
}

/**
 * Returns targets whose coverage ends at a height that no chain has reached, so that newer blocks are never
 * requested. Earlier versions accepted such a height from a list.
 */
async function heights(sql: postgres.Sql, clock: Clock): Promise<CheckResult[]> {
  const rows = await ormOf(sql).execute<{
    dataset: string;
    target: string;
    last: string;
    fix: string;
  }>(expression`
    select dataset, target_key as target, (upper(covered) - 1)::text as last,
      format('update ' || ${tableText(coverage)} || ' set covered = covered * int8multirange(int8range(null, HEIGHT)) where (dataset, target_key) = (%L, %L)',
        dataset, target_key) as fix
    from ${coverage} where axis = 'height' and upper(covered) > ${unreachableHeight(clock())} order by 1, 2`);
  return rows.map(({ dataset, target, last, fix }) => ({
    check: 'coverage',
    ok: false,
    found: `${dataset} of ${target} is marked as recorded up to block ${last}, which no chain has reached yet, so newer blocks are never requested`,
    fix: `as the owner of the database, remove the coverage above the last correctly recorded block (HEIGHT): ${fix}`,
  }));
}

/**
 * Returns the discrepancies between sources. The database contains the values of both sources, so the check
 * has no fix.
 */
async function sources(sql: postgres.Sql): Promise<CheckResult> {
  const counts = await discrepancyCounts(sql);
  const found = `discrepancies: ${describeDiscrepancies(counts)}`;
  return {
    check: 'sources',
    ok: true,
    found: counts.length === 0 ? found : `${found} (details: "chain-recorder report discrepancies")`,
  };
}

/** Checks that the daily demand of the schedules fits the declared budgets. */
async function budgets(
  sql: postgres.Sql,
  config: Config,
  watched: readonly ConfiguredFeed[],
  clock: Clock,
): Promise<CheckResult[]> {
  return demands(await forecast(sql, watched, clock()), config).flatMap((demand): CheckResult[] => {
    const beyond = beyondBudget(demand);
    const { upstream, unitsPerDay, allowedPerDay } = demand;
    if (beyond !== null) return [{ check: 'budget', ok: false, found: beyond }];
    if (allowedPerDay === null) return []; // the check of the upstream itself reports it
    const found = `${upstream}: the schedules request ${unitsPerDay} units a day of ${allowedPerDay}`;
    return [{ check: 'budget', ok: true, found }];
  });
}

interface Process {
  readonly process: string;
  readonly recorder: string;
  readonly network: string;
  readonly digest: string;
}

/**
 * Checks the running processes of `up` on this database: processes of this recorder must have the same
 * network and configuration, and other recorders must not record the same targets.
 */
export async function checkProcesses(
  sql: postgres.Sql,
  config: Config,
  watched: readonly ConfiguredFeed[],
): Promise<CheckResult[]> {
  const { recorder, network, digest } = createConfiguration(config, watched);
  const living = await sql<Process[]>`
    select p.process, p.recorder, c.network, p.digest
    from recorder.processes p join recorder.configurations c using (recorder, digest)
    where p.left_at is null and p.seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}) order by p.started_at`;
  const own = living.filter((one) => one.recorder === recorder);
  const bad = (found: string, fix?: string): CheckResult => ({
    check: 'processes',
    ok: false,
    found,
    ...(fix === undefined ? {} : { fix: fix }),
  });
  const other = own.find((one) => one.network !== network);
  if (other)
    return [
      bad(
        `${other.process} records ${other.network} into this database as "${recorder}", and the configured network is ${network}`,
        OTHER_NETWORK_FIX,
      ),
    ];
  const older = own.find((one) => one.digest !== digest);
  const conflicts = await findTargetConflicts(sql, watched, { recorder, digest });
  const problems = [
    ...(older
      ? [
          bad(
            `${older.process} runs with another configuration than this one`,
            'restart that process with this recorder.yaml; if that process is a different recorder, set another name (name:)',
          ),
        ]
      : []),
    ...conflicts.map((problem) => bad(problem)),
  ];
  if (problems.length > 0) return problems;
  const found =
    own.length === 0
      ? 'no process is recording: start "chain-recorder up"'
      : `${own.map((one) => one.process).join(', ')} ${own.length === 1 ? 'records' : 'record'}`;
  return [{ check: 'processes', ok: true, found }];
}
