import { randomBytes } from 'node:crypto';
import type { App } from '../app.ts';
import { steadyClock } from '../clock.ts';
import type { Target } from '../datasets/contract.ts';
import { announcements } from '../health/announcements.ts';
import { lookOver } from '../health/look.ts';
import type { ActiveLedger } from '../health/node-health.ts';
import { keepLedger, Prober } from '../health/prober.ts';
import type { ProberContext } from '../health/prober-context.ts';
import type { Registrant } from '../recording/configuration.ts';
import { registerTargets } from '../recording/register.ts';
import { targetKey } from '../recording/target-key.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable, tell } from './output.ts';
import { registerUnlessRunning } from './registering.ts';

/** Keeps the ledger until the signal comes, or stands by while another process does. */
async function runProber(app: App, by: Registrant, signal: AbortSignal): Promise<void> {
  const [ledger] = app.ledgers;
  if (!ledger || ledger.targets.length === 0) return;
  const register = () => registerTargets(app.database.sql, ledger, app.clock(), by);
  await keepLedger(proberContext(app, ledger, register), signal);
}

/** Watches the nodes while no process with a newer configuration does. */
export class ProberSwitch {
  readonly #app: App;
  readonly #by: Registrant;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;

  constructor(app: App, by: Registrant) {
    this.#app = app;
    this.#by = by;
  }

  /** Begins or ends the watching. @param relieved true: another process does it */
  follow(relieved: boolean): void {
    if (relieved) void this.stop();
    else if (!this.#running) {
      const stop = new AbortController();
      this.#running = { stop, ended: runProber(this.#app, this.#by, stop.signal) };
    }
  }

  /** @returns when all is written */
  async stop(): Promise<void> {
    const shift = this.#running;
    this.#running = null;
    shift?.stop.abort();
    await shift?.ended;
  }
}

/** `record node_health`: one look at every node, confirmed, into the ledger. @returns the exit code */
export async function probeOnce(
  app: App,
  ledger: ActiveLedger,
  targets: readonly Target[],
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const { sql } = app.database;
  const context = proberContext(app, ledger, () => registerUnlessRunning(app, ledger));
  const began = new Date(app.clock());
  const prober = await Prober.begin(context);
  // When another process watches, its readings are current.
  await prober?.once(signal);
  const wanted = new Set(targets.map(targetKey));
  const rows = await sql<Reading[]>`
    select h.node, h.probe, h.check_name as check, h.state, h.error, h.since, h.observed_at from reporting.node_health h
    where h.observer = ${context.observer} order by h.node, h.probe, h.check_name <> '*', h.check_name`;
  const keyOf = ({ node, probe }: Reading) => targetKey({ observer: context.observer, node, probe });
  const readings = rows.filter((row) => wanted.has(keyOf(row)));
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
      watched_by_another_process: prober === null,
      readings,
    });
  else
    printTable(
      readings.map((row) => ({ ...row })),
      'no node was looked at',
    );
  if (!prober && !json) tell('another process watches these nodes: these are its last readings');
  if (signal.aborted) tell('interrupted: not every node was looked at');
  return signal.aborted ? exitCode.later : exitCode.done;
}

interface Reading {
  readonly node: string;
  readonly probe: string;
  readonly check: string;
  readonly state: string;
  readonly error: string | null;
  readonly since: Date;
  readonly observed_at: Date;
}

function proberContext(app: App, ledger: ActiveLedger, register: () => Promise<void>): ProberContext {
  const { sql } = app.database;
  return {
    sql,
    wall: app.clock,
    steady: steadyClock,
    log: app.log,
    observer: ledger.targets[0]?.observer ?? 'recorder',
    holder: `${app.recording.worker}/${randomBytes(4).toString('hex')}`,
    every: ledger.every,
    targets: ledger.targets.map(({ node = '', probe = '' }) => ({ node, probe })),
    look: lookOver(app.recording.open, ledger, app.clock),
    maintenance: announcements(sql, app.config.health.maintenance),
    register,
  };
}
