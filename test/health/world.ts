import type postgres from 'postgres';
import type { MaintenanceWindow } from '../../src/health/maintenance.ts';
import { ClockWentBack, Prober } from '../../src/health/prober.ts';
import type { ProbeQueryResult, ProbeTarget } from '../../src/health/prober-context.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** The behaviour of a node: `unhealthy` reports itself unhealthy, `unresponsive` does not respond. */
export type Life = 'healthy' | 'unhealthy' | 'unresponsive';

const UNCOUNTED = { failingSince: null, failures: null };
/**
 * Nodes, a recorder that probes them, and the clocks of its machine, all controlled by the test. Time passes second by
 * second; the ledger is written every five minutes and before every event of the recorder.
 */
export class World {
  readonly sql: postgres.Sql;
  readonly observer: string;
  readonly targets: readonly ProbeTarget[];
  readonly every: number;
  /** True time, ms since 1970. */
  now: number;
  /** Difference of the recorder's clock from the true time, ms. */
  shift = 0;
  readonly lives = new Map<string, Life>();
  /** The recorder cannot resolve names. */
  isCutOff = false;
  windows: MaintenanceWindow[] = [];
  /** The windows as read from the database before each write. */
  announcedWindows = (): MaintenanceWindow[] => this.windows;
  prober: Prober | null = null;
  /** Every probe: of which node, when, and its result. */
  readonly observations: { readonly node: string; readonly at: number; readonly result: ProbeQueryResult }[] =
    [];
  /** Probes start, and the world does not wait for their responses. */
  isHoldingProbes = false;
  /** Probes of a node, in place of its scripted behaviour. */
  respond: ((node: string) => Promise<ProbeQueryResult>) | null = null;
  /** Warnings of the recorder. */
  readonly warnings: string[] = [];
  /** Times at which the recorder took its ledger over again because the clock went back, in true time. */
  readonly restarts: number[] = [];
  /** Its other log lines. */
  readonly infos: string[] = [];
  #pending: Promise<unknown>[] = [];
  readonly #start: number;
  #probeCount = 0;
  #processes = 0;

  constructor(
    sql: postgres.Sql,
    observer: string,
    targets: readonly ProbeTarget[],
    start: number,
    every = minute,
  ) {
    this.sql = sql;
    this.observer = observer;
    this.targets = targets;
    this.every = every;
    this.now = start;
    this.#start = start;
  }

  /** Starts a recorder if none runs. */
  async start(): Promise<void> {
    // The previous one is dead: its lease is not released.
    await this
      .sql`update recorder.health_observers set lease_until = now() where observer = ${this.observer}`;
    this.#processes += 1;
    this.prober = await Prober.acquire({
      sql: this.sql,
      wall: () => this.now + this.shift,
      steady: () => this.now - this.#start + 12_345_678,
      log: {
        info: (line: object | string) => this.infos.push(String(line)),
        warn: (_: object, message?: string) => this.warnings.push(message ?? ''),
      },
      observer: this.observer,
      holder: `process-${this.#processes}`,
      every: this.every,
      targets: this.targets,
      query: ({ node }) => {
        const result = this.#probe(node);
        if (!this.isHoldingProbes) this.#pending.push(result.catch(() => {}));
        return result;
      },
      maintenance: async (from, to) =>
        this.announcedWindows().filter((window) => window.to >= from && window.from <= to),
      random: () => 0.2,
    });
    await this.#tick();
    await this.flush();
  }

  /** Ends the recorder as kill -9 does, right after a write. */
  async kill(): Promise<void> {
    await this.flush();
    this.prober = null;
  }

  async flush(): Promise<void> {
    try {
      await this.prober?.flush();
    } catch (error) {
      if (!(error instanceof ClockWentBack)) throw error;
      this.restarts.push(this.now);
      await this.start();
    }
  }

  /** Lets time pass. @param each called before every second, to change the world */
  async pass(milliseconds: number, each?: () => void): Promise<void> {
    for (const end = this.now + milliseconds; this.now < end; ) {
      this.now += second;
      each?.();
      await this.#tick();
      if (this.now % (5 * minute) === 0) await this.flush();
    }
  }

  /** Time passes while the whole machine sleeps. */
  async sleep(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    await this.#tick();
    await this.flush();
  }

  /** The ledger of a node: each state, from and to in seconds since the start. */
  async ledger(node = 'a', check = '*'): Promise<(readonly [state: string, from: number, to: number])[]> {
    const rows = await this.sql<{ state: string; from: number; to: number }[]>`
      select state, extract(epoch from started_at)::float8 * 1000 - ${this.#start} as from,
        extract(epoch from ended_at)::float8 * 1000 - ${this.#start} as to
      from reporting.node_health_history
      where observer = ${this.observer} and node = ${node} and check_name = ${check} order by started_at`;
    return rows.map(({ state, from, to }) => [state, from / second, to / second]);
  }

  async #tick(): Promise<void> {
    const probeCount = this.#probeCount;
    this.prober?.tick();
    // Probes end at once; their results are processed by then.
    await Promise.all(this.#pending.splice(0));
    if (this.#probeCount !== probeCount) for (let turns = 0; turns < 6; turns++) await Promise.resolve();
  }

  async #probe(node: string): Promise<ProbeQueryResult> {
    this.#probeCount += 1;
    if (!this.respond) return this.#readScriptedLife(node);
    const at = this.now;
    const result = await this.respond(node);
    this.observations.push({ node, at, result });
    return result;
  }

  #readScriptedLife(node: string): ProbeQueryResult {
    const life = this.lives.get(node) ?? 'healthy';
    const result: ProbeQueryResult = this.isCutOff
      ? { state: 'unknown', error: 'the call failed (ENOTFOUND)', checks: null, latency: null }
      : life === 'unresponsive'
        ? { state: 'down', error: 'the call failed (ECONNREFUSED)', checks: null, latency: null }
        : {
            state: life === 'unhealthy' ? 'down' : 'up',
            error: life === 'unhealthy' ? 'failing: network' : null,
            latency: 12,
            checks: [
              { name: 'C', state: 'up', error: null, message: null, timestamp: `${this.now}`, ...UNCOUNTED },
              {
                name: 'network',
                state: life === 'unhealthy' ? 'down' : 'up',
                error: life === 'unhealthy' ? 'no peers' : null,
                message: null,
                timestamp: `${this.now}`,
                ...UNCOUNTED,
              },
            ],
          };
    this.observations.push({ node, at: this.now, result });
    return result;
  }
}

let worldCount = 0;

/** Starts a recorder of nodes, with an observer of its own. */
export async function startWorld(
  sql: postgres.Sql,
  nodes: readonly string[] = ['a'],
  { every = minute, start = Date.UTC(2026, 0, 10) } = {},
): Promise<World> {
  worldCount += 1;
  const targets = nodes.map((node) => ({ node, probe: 'health' }));
  const world = new World(sql, `observer-${worldCount}`, targets, start, every);
  await world.start();
  return world;
}
