import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecorderProcess } from '../recorder-process.ts';
import { lastRelease, newestTag } from '../release.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const NODES = ['validator-1', 'validator-2', 'validator-3'];
const PROCESSES = 3;
/** Maximum unknown time of a hand-over of the ledger, in seconds: a regular stop releases the lease. */
const MAX_HANDOVER_S = 5;

/** Exit of `seal` while `up` makes the day's seal: it should be retried. */
const SEAL_IN_PROGRESS_CODE = 75;

/** The seconds of each node in the ledger since a moment, and its settled time. */
async function ledgerSince({ sql }: World, from: Date) {
  const [settled] = await sql<{ until: Date }[]>`
    select min(settled_until) as until from reporting_internal.node_probes where probe = 'health'`;
  const to = settled?.until ?? from;
  const rows = await sql<{ node: string; up: number; down: number; unknown: number }[]>`
    select node, up_seconds::float8 as up, down_seconds::float8 as down, unknown_seconds::float8 as unknown
    from reporting.node_uptime(${from}, ${to}) where probe = 'health'`;
  return { to, rows };
}

const areAllUp =
  ({ sql }: World) =>
  async () => {
    const rows = await sql`
    select from recorder.node_health where check_name = '*' and probe = 'health' and state = 'up' and ended_at is null`;
    return rows.length === NODES.length;
  };

/** Waits until the holder of the ledger has settled more than a moment. */
const waitUntilSettled = (world: World, moment: Date) =>
  eventually(
    'the ledger to be settled beyond the hand-over',
    async () => (await ledgerSince(world, moment)).to > moment,
  );

const rolling: Fault = {
  numbers: [81],
  title: 'the last release is replaced by this version, process by process, under load',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'I', 'X'],
  sandbox: { blocksPerHour: 60 },
  async unavailable({ release }) {
    return release === null && (await newestTag()) === null ? 'nothing has been released' : null;
  },
  async inject(world) {
    const { evidence, sandbox, setting, closers } = world;
    const dir = join(world.dir, 'release');
    await mkdir(dir);
    const release = await lastRelease(dir, setting.options.release, closers);
    evidence.figures.set('replaced', release.name);
    // The release creates its own schema: a database of this version would have nothing to migrate.
    const name = `rolling_${world.backend}_${process.pid}`;
    world.databaseUrl = await setting.postgres.blank(name);
    closers.add(() => setting.postgres.drop(name));
    world.useDatabase(world.databaseUrl);

    const steady = await Steady.start(world, {
      watch: 4,
      days: 3,
      nodes: NODES.map((node) => ({ name: node, url: `${sandbox.url}/nodes/${node}` })),
      datasets: { node_health: { every: '5s' }, validator_uptime: { every: '10s' }, peers: { every: '10s' } },
      processes: PROCESSES,
      cli: release.cli,
    });
    await eventually('every node to be up', areAllUp(world));
    await steady.waitUntilRecorded();
    const from = new Date();
    await waitUntilSettled(world, from);
    const seal = async (cli: string) => {
      const ending = await until('no other process to seal', async () => {
        const ended = await world.recorder(['seal'], { cli }).ended;
        return ended.code === SEAL_IN_PROGRESS_CODE ? null : ended;
      });
      evidence.exit('seal', { ...ending, elapsedMs: 0 }, [0], 60_000);
    };
    await seal(release.cli);

    const old = steady.running;
    // `worker` of a run names its process.
    evidence.figures.set('processes of the release', old.map(({ pid }) => pid).join(', '));
    const fresh: RecorderProcess[] = [];
    for (const [at, before] of old.entries()) {
      const startedAt = performance.now();
      // The first of this version migrates the database while two of the release record.
      const next = world.recorder(['up']);
      fresh.push(next);
      await next.waitForLog('recording started', 120_000);
      evidence.exit(`up of the release, stopped by SIGTERM (${at + 1})`, await before.stop(), [0], 20_000);
      evidence.serve('process replaced');
      evidence.figures.set(`s for process ${at + 1}`, Math.round((performance.now() - startedAt) / 100) / 10);
      await waitUntilSettled(world, new Date());
    }
    steady.running = fresh;
    await steady.expectRecovery('the last one was replaced');
    await steady.waitUntilCovered();
    await waitUntilSettled(world, new Date());

    const { to, rows } = await ledgerSince(world, from);
    const seconds = (to.getTime() - from.getTime()) / 1000;
    evidence.figures.set('s of the ledger compared', Math.round(seconds));
    evidence.claim('every node is in the ledger', rows.length === NODES.length);
    for (const { node, up, down, unknown } of rows) {
      evidence.figures.set(`s unknown of ${node}`, unknown);
      evidence.claim(`${node} was never down (${down} s)`, down === 0);
      evidence.claim(`the four add up (${up} s up)`, Math.abs(up + unknown + down - seconds) < 0.01);
      evidence.claim(
        `${node} was unknown for ${unknown} s in ${PROCESSES} hand-overs`,
        unknown <= PROCESSES * MAX_HANDOVER_S,
      );
    }
    const absences = await world.sql<{ reason: string; seconds: number }[]>`
      select reason, extract(epoch from ended_at - started_at)::float8 as seconds from recorder.health_absences
      where ended_at > ${from} order by started_at`;
    evidence.figures.set(
      'hand-overs in the ledger',
      absences.map(({ reason, seconds }) => `${reason} ${Math.round(seconds * 10) / 10} s`).join(', ') ||
        'none',
    );
    await expectNothingLost(world, from);
    await steady.stop();
    recordWarnings(world, [...old, ...fresh]);
    await seal(setting.cli);
    const verify = world.recorder(['verify']);
    evidence.exit('verify', { ...(await verify.ended), elapsedMs: 0 }, [0], 60_000);
  },
};

/** Whether everything planned since a moment was recorded: no gap, no failed run, no unfinished run. */
async function expectNothingLost({ sql, evidence }: World, from: Date): Promise<void> {
  const runs = await sql<{ status: string; runs: number }[]>`
    select status, count(*)::int as runs from reporting.runs where started_at >= ${from} group by status order by status`;
  evidence.figures.set('runs', runs.map(({ status, runs }) => `${status} ${runs}`).join(', '));
  const bad = await sql<{ text: string }[]>`
    select format('%s of %s by %s from %s to %s: %s', status, dataset, worker, started_at, finished_at, error) as text
    from reporting.runs where started_at >= ${from} and status in ('failed', 'lost')`;
  evidence.figures.set('failed or lost', bad.map(({ text }) => text).join('; ') || 'none');
  evidence.claim(`runs that failed or were lost: ${bad.length}`, bad.length === 0);
  const unfinished = await sql`
    select from recorder.runs r where status = 'running' and started_at < now() - interval '1 minute'
      and not exists (select from recorder.targets t where t.run_id = r.run_id and t.lease_until > now())`;
  evidence.claim(`unfinished runs: ${unfinished.length}`, unfinished.length === 0);
  const gaps = await sql<{ text: string }[]>`
    select format('%s: %s, from %s to %s', dataset, reason, range_start, range_end) as text
    from reporting.gaps where dataset <> 'node_health'`;
  evidence.claim(
    `gaps: ${gaps.map(({ text }) => text).join('; ') || 'none'} (the first process was replaced from ${from.toISOString()} on)`,
    gaps.length === 0,
  );
}

/** Warnings of the processes. */
function recordWarnings({ evidence }: World, recorders: readonly RecorderProcess[]): void {
  const warnings = recorders.flatMap(({ lines }) => lines.filter((line) => /"level":[456]0/.test(line)));
  evidence.figures.set('warnings', warnings.slice(0, 5).join('\n      ') || 'none');
}

export const rollingUpdateFaults: readonly Fault[] = [rolling];
