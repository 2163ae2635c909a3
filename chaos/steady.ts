import { setTimeout as delay } from 'node:timers/promises';
import type { RecorderProcess } from './recorder-process.ts';
import {
  blockTargets,
  configure,
  dayOf,
  midnight,
  type RecordingSetup,
  UNCLAIMED_DAYS,
  UNCLAIMED_MS,
} from './settings.ts';
import { allCovered } from './stored-blocks.ts';
import { eventually } from './until.ts';
import type { World } from './world.ts';

/** Maximum time of invariant E: fresh again within this many ms of the fault's end. */
const MAX_RECOVERY_MS = 60_000;

/** Setup of a recorder that polls and heals blocks. */
export interface SteadyPlan extends Partial<RecordingSetup> {
  readonly nodes?: readonly { name: string; url: string }[];
  /** Nodes whose blocks are recorded, on three chains each. */
  readonly watch?: number;
  /** Whole days of the past that are healed. */
  readonly days?: number;
  /** The connection to the database uses the proxy. */
  readonly proxied?: boolean;
  readonly processes?: number;
  readonly env?: Record<string, string>;
  readonly node?: readonly string[];
  readonly cli?: string;
}

/** A recorder in regular operation: `up` polls every 5 s the proposals of a few nodes, and heals the previous days. */
export class Steady {
  readonly #world: World;
  readonly #plan: SteadyPlan;
  readonly nodeIds: readonly string[];
  /** The last started processes. */
  running: RecorderProcess[] = [];

  private constructor(world: World, plan: SteadyPlan, nodeIds: readonly string[]) {
    this.#world = world;
    this.#plan = plan;
    this.nodeIds = nodeIds;
  }

  /** Writes the configuration and starts the processes. */
  static async start(world: World, plan: SteadyPlan = {}): Promise<Steady> {
    const steady = await Steady.prepare(world, plan);
    for (let process = 0; process < (plan.processes ?? 1); process++) steady.launch();
    await Promise.all(steady.running.map((recorder) => recorder.waitForLog('recording started')));
    return steady;
  }

  /** Writes the configuration only. */
  static async prepare(world: World, plan: SteadyPlan): Promise<Steady> {
    const nodeIds = world.sandbox.network.validators.nodes
      .slice(0, plan.watch ?? 2)
      .map(({ nodeId }) => nodeId);
    const days = plan.days ?? 2;
    const from = midnight(days + UNCLAIMED_DAYS);
    await configure(world, {
      nodeIds,
      ...plan,
      datasets: { proposed_blocks: { every: '5s', since: dayOf(from) }, ...plan.datasets },
    });
    world.watched.push(...blockTargets(nodeIds, from, Date.now() - UNCLAIMED_MS));
    return new Steady(world, plan, nodeIds);
  }

  /** Starts one process more. */
  launch(roles?: string): RecorderProcess {
    const args = roles === undefined ? ['up'] : ['up', '--roles', roles];
    const recorder = this.#world.recorder(args, this.#plan);
    this.running.push(recorder);
    return recorder;
  }

  /** Waits until everything watched is covered. */
  async waitUntilCovered(timeoutMs = 180_000): Promise<void> {
    const { sql, watched } = this.#world;
    await eventually('all that is watched to be covered', () => allCovered(sql, watched), timeoutMs);
  }

  /** Waits until every target has been recorded once. */
  async waitUntilRecorded(): Promise<void> {
    await eventually('every target to be recorded once', async () => (await this.#staleTargets(0)) === 0);
  }

  /** Measures the time from now, the end of the fault, until everything is fresh. */
  async expectRecovery(after: string): Promise<void> {
    const ended = Date.now();
    const fresh = () => this.#staleTargets(ended);
    const elapsedMs = await eventually(
      'everything to be fresh',
      async () => (await fresh()) === 0,
      MAX_RECOVERY_MS,
    ).then(
      () => Date.now() - ended,
      () => null,
    );
    this.#world.evidence.recoveries.push({ after, elapsedMs });
    if (elapsedMs !== null) this.#world.evidence.figures.set(`fresh after ${after}`, `${elapsedMs} ms`);
  }

  /** Lets the fault last more than this many intervals, and checks whether `status` shows it. */
  async expectFaultReported(what: string, intervals = 3): Promise<void> {
    await this.#lateBy(intervals);
    const status = this.#world.recorder(['status', '--json']);
    const { code } = await status.ended;
    const [running] = this.running;
    const metrics = running ? await (await fetch(`${running.address}/metrics`)).text() : '';
    const late = Number(/^chain_recorder_late_targets (\S+)$/m.exec(metrics)?.[1] ?? 0);
    this.#world.evidence.indicators.push(
      { where: `${what}: status exits 1`, isVisible: code === 1 },
      { where: `${what}: the metric of late targets is ${late}`, isVisible: late > 0 },
    );
  }

  /** Waits for a time in which nothing may happen. */
  async wait(milliseconds: number): Promise<void> {
    await delay(milliseconds);
  }

  /** Stops every process, and stores its exit. */
  async stop(): Promise<void> {
    const endings = await Promise.all(this.running.filter(({ running }) => running).map((one) => one.stop()));
    for (const ending of endings) this.#world.evidence.exit('up, stopped by SIGTERM', ending, [0], 20_000);
    this.running = [];
  }

  /** Targets with no success since `ended` (ms) or none within two intervals. */
  async #staleTargets(ended: number): Promise<number> {
    const [row] = await this.#world.sql<{ stale: number; all: number }[]>`
      select count(*)::int as all, (count(*) filter (where last_success_at is null
        or last_success_at <= ${new Date(ended)} or last_success_at > now() + interval '5 seconds'
        or now() - last_success_at >= 2 * make_interval(secs => every_ms / 1000.0)))::int as stale
      from recorder.target_datasets where active and unsupported_reason is null and source <> 'node-health'`; // probes have their own clock
    return row && row.all > 0 ? row.stale : 1;
  }

  async #lateBy(intervals: number): Promise<void> {
    await eventually('every target to be late', async () => {
      const [row] = await this.#world.sql<{ late: number }[]>`
        select count(*)::int as late from recorder.target_datasets
        where active and source <> 'node-health' and (last_success_at is null
          or now() - last_success_at > ${intervals + 1} * make_interval(secs => every_ms / 1000.0) + interval '2 seconds')`;
      return row !== undefined && row.late > 0;
    });
  }
}
