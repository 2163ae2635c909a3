import { randomBytes } from 'node:crypto';
import type { App } from '../app/app.ts';
import { createScope } from '../app/configured-feeds.ts';
import { exitCode } from '../app/exit-code.ts';
import type { Target } from '../datasets/contract.ts';
import { createMaintenanceLookup } from '../health/announcements.ts';
import { DatabaseClock } from '../health/database-clock.ts';
import { keepShares, type SharesContext } from '../health/keep-shares.ts';
import type { ActiveLedger } from '../health/node-health.ts';
import { createProbeQuery } from '../health/probe-node.ts';
import { Prober } from '../health/prober.ts';
import type { ProbeTarget } from '../health/prober-context.ts';
import { sharesOf } from '../health/shares.ts';
import { steadyClock } from '../lib/clock.ts';
import { printJson, printNotice, printTable } from '../lib/print.ts';
import type { ProcessRegistration } from '../recording/process-registration.ts';
import { targetKey } from '../recording/target-key.ts';
import { NetworkReach } from '../upstreams/network-reach.ts';
import { registerUnlessRunning } from './register-feed.ts';

/** Keeps the uptime ledgers of the shares assigned to this process until the signal aborts. */
async function runProber(app: App, registration: ProcessRegistration, signal: AbortSignal): Promise<void> {
  const [ledger] = app.ledgers;
  if (!ledger || ledger.targets.length === 0) return;
  await keepShares(
    {
      prober: proberContext(app, ledger),
      shares: groupProbesByShare(app, ledger.targets),
      worker: registration.process,
      shift: randomBytes(4).toString('hex'),
      workers: () => registration.workers(),
    },
    signal,
  );
}

/** Returns the probes of each share of the observer. */
function groupProbesByShare({ config }: App, targets: readonly Target[]): Map<string, ProbeTarget[]> {
  const { observer, shares } = createScope(config);
  const probes = new Map(sharesOf(observer, shares).map((share) => [share, [] as ProbeTarget[]]));
  for (const { observer: share = '', node = '', probe = '' } of targets)
    probes.get(share)?.push({ node, probe });
  return probes;
}

/** Switch of the prober. The prober runs unless a process with a newer configuration probes the nodes. */
export class ProberSwitch {
  readonly #app: App;
  readonly #registration: ProcessRegistration;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;

  constructor(app: App, registration: ProcessRegistration) {
    this.#app = app;
    this.#registration = registration;
  }

  /**
   * Starts or stops the prober.
   * @param relieved true if another process probes the nodes
   */
  follow(relieved: boolean): void {
    if (relieved) void this.stop();
    else if (!this.#running) {
      const stop = new AbortController();
      this.#running = { stop, ended: runProber(this.#app, this.#registration, stop.signal) };
    }
  }

  /** Stops the prober. Resolves when all rows are written. */
  async stop(): Promise<void> {
    const shift = this.#running;
    this.#running = null;
    shift?.stop.abort();
    await shift?.ended;
  }
}

/**
 * Command `record node_health`: probes every node once, confirms failures, and writes the ledger.
 * @returns the exit code
 */
export async function probeOnce(
  app: App,
  ledger: ActiveLedger,
  targets: readonly Target[],
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const { sql } = app.database;
  const context = proberContext(app, ledger);
  await context.synchronise?.();
  const began = new Date(context.wall());
  await registerUnlessRunning(app, ledger);
  const shares = groupProbesByShare(app, ledger.targets);
  const holder = `${app.recording.worker}/${randomBytes(4).toString('hex')}`;
  const probers: Prober[] = [];
  for (const [observer, targets] of shares) {
    const prober = await Prober.acquire({ ...context, observer, targets, holder });
    if (prober) probers.push(prober);
  }
  // If another process probes the nodes, its readings are current.
  await Promise.all(probers.map((prober) => prober.once(signal)));
  const watchedElsewhere = probers.length < shares.size;
  const targetKeys = new Set(targets.map(targetKey));
  const rows = await sql<Reading[]>`
    select h.observer, h.node, h.probe, h.check_name as check, h.state, h.error, h.since, h.observed_at
    from reporting.node_health h
    where h.observer = any(${[...shares.keys()]}::text[]) order by h.node, h.probe, h.check_name <> '*', h.check_name`;
  const keyOf = ({ observer, node, probe }: Reading) => targetKey({ observer, node, probe });
  const readings = rows.filter((row) => targetKeys.has(keyOf(row)));
  if (json)
    printJson({
      runs: targets.map(targetKey).map((target) => ({
        target,
        status: 'done',
        error: null,
        rows_written: {
          node_health: readings.filter((row) => keyOf(row) === target && row.since >= began).length,
        },
      })),
      watched_by_another_process: watchedElsewhere,
      readings: readings.map(({ observer: _, ...reading }) => reading),
    });
  else
    printTable(
      readings.map(({ observer: _, ...row }) => row),
      'no node was probed',
    );
  if (watchedElsewhere && !json)
    printNotice('another process probes these nodes: these are the last results of that process');
  if (signal.aborted) printNotice('interrupted: not every node was probed');
  return signal.aborted ? exitCode.later : exitCode.done;
}

interface Reading {
  readonly observer: string;
  readonly node: string;
  readonly probe: string;
  readonly check: string;
  readonly state: string;
  readonly error: string | null;
  readonly since: Date;
  readonly observed_at: Date;
}

function proberContext(app: App, ledger: ActiveLedger): SharesContext['prober'] {
  const { sql } = app.database;
  const { nodes, chainData, metrics } = app.config.upstreams;
  const urls = new Map(nodes.map(({ name, url }) => [name, url]));
  const clock = new DatabaseClock(sql, steadyClock);
  const reach = new NetworkReach([chainData, metrics, ...nodes].flatMap((one) => one?.url ?? []));
  const isCutOff = (node: string) => reach.isCutOffFrom(urls.get(node) ?? '');
  return {
    sql,
    wall: clock.now,
    synchronise: clock.measure,
    steady: steadyClock,
    log: app.log,
    every: ledger.every,
    query: createProbeQuery(app.recording.open, ledger, app.clock, isCutOff),
    maintenance: createMaintenanceLookup(sql, app.config.health.maintenance),
  };
}
