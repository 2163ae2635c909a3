import { refusesRows, storeByBisection } from '../db/bisect-insert.ts';
import type { Clock } from '../lib/clock.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { type AcquiredObserver, type LedgerBatch, type RefusedProbe, writeLedger } from './ledger.ts';
import { type LedgerPart, mergeParts, probeKey, splitByProbe, withoutNodeTexts } from './ledger-parts.ts';
import { LogThrottle } from './log-throttle.ts';
import type { ProberContext } from './prober-context.ts';

/** Retry interval for a probe whose rows the database rejects, in ms. */
const RETRY_INTERVAL_MS = 30_000;
const LOG_INTERVAL_MS = 60_000;
const MAX_REASON_LENGTH = 200;

/** A probe whose ledger is stalled. */
interface StalledProbe extends RefusedProbe {
  readonly part: LedgerPart;
  /** Time of the next retry, on the monotonic clock. */
  readonly againAt: number;
}

/**
 * Writes the ledger of an observer. Rows that the database rejects affect only their probe. These rows are
 * written again without the texts of the node. If the database rejects them again, the rows of this probe
 * wait and its ledger is stalled; the ledgers of all other probes continue.
 */
export class LedgerKeeper {
  readonly #context: Pick<ProberContext, 'sql' | 'observer' | 'holder' | 'log'>;
  readonly #clock: Clock;
  readonly #wordless: LogThrottle;
  readonly #refusalLog: LogThrottle;
  #stalled: ReadonlyMap<string, StalledProbe>;
  #settled: number;
  #lease: string;

  /**
   * @param steady a monotonic clock, in ms
   * @param settled time up to which the ledger is final, in ms since 1970
   */
  constructor(
    context: Pick<ProberContext, 'sql' | 'observer' | 'holder' | 'log'>,
    steady: Clock,
    settled: number,
    { refused, lease }: Pick<AcquiredObserver, 'refused' | 'lease'>,
  ) {
    this.#context = context;
    this.#clock = steady;
    this.#wordless = new LogThrottle(steady, LOG_INTERVAL_MS);
    this.#refusalLog = new LogThrottle(steady, LOG_INTERVAL_MS);
    this.#settled = settled;
    this.#lease = lease;
    this.#stalled = new Map(
      refused.map((one) => {
        const { node, probe } = one;
        const part = { node, probe, transitions: [], progress: null };
        return [probeKey(node, probe), { ...one, part, againAt: 0 }];
      }),
    );
  }

  /**
   * Writes a batch, together with waiting rows. After an error, the same batch may be written again.
   * @throws LeaseLostError if another process holds the observer
   * @throws database errors that are not about the rows
   */
  async write(batch: LedgerBatch): Promise<void> {
    const now = this.#clock();
    const parts = splitByProbe(batch);
    for (const [key, { part }] of this.#stalled) parts.set(key, mergeParts(part, parts.get(key)));
    const waits = (key: string) => (this.#stalled.get(key)?.againAt ?? 0) > now;
    const due = [...parts].flatMap(([key, part]) => (waits(key) ? [] : [part]));
    const stalled = new Map(
      [...this.#stalled].flatMap(([key, one]) =>
        waits(key) ? [[key, { ...one, part: parts.get(key) ?? one.part }] as const] : [],
      ),
    );
    try {
      await this.#writeParts(due, { ...batch, refused: [...stalled.values()] });
    } catch (error) {
      if (!refusesRows(error)) throw error;
      for (const one of await this.#refusedOf(due, now)) stalled.set(probeKey(one.node, one.probe), one);
      // The heartbeat is written last, because it marks everything before as final.
      await this.#writeParts([], { ...batch, refused: [...stalled.values()] });
    }
    this.#log(stalled);
    this.#stalled = stalled;
    this.#settled = Math.max(this.#settled, batch.heartbeat ?? this.#settled);
  }

  /**
   * Stores each part, without the texts of the node if necessary.
   * @returns the parts that the database rejects
   */
  async #refusedOf(parts: readonly LedgerPart[], now: number): Promise<StalledProbe[]> {
    const nothing = { heartbeat: null, absences: [] };
    const store = (some: readonly LedgerPart[]) => this.#writeParts(some, nothing);
    const refused = await storeByBisection(parts, store);
    const stalled: StalledProbe[] = [];
    for (const { item, error } of refused) {
      const { node, probe } = item;
      const [again] = await storeByBisection([withoutNodeTexts(item)], store);
      const reason = reasonOf(again?.error ?? error);
      if (again) {
        const since = this.#stalled.get(probeKey(node, probe))?.since ?? this.#settled;
        stalled.push({ node, probe, since, reason, part: item, againAt: now + RETRY_INTERVAL_MS });
      } else if (this.#wordless.shouldLog())
        this.#context.log.warn(
          { node, probe, reason },
          'the texts of a node could not be stored; its states were stored',
        );
    }
    return stalled;
  }

  async #writeParts(
    parts: readonly LedgerPart[],
    rest: Omit<LedgerBatch, 'transitions' | 'probes'>,
  ): Promise<void> {
    const { sql, observer, holder } = this.#context;
    const transitions = parts.flatMap((part) => part.transitions);
    const probes = parts.flatMap(({ progress }) => progress ?? []);
    this.#lease = await writeLedger(sql, observer, holder, { ...rest, transitions, probes }, this.#lease);
  }

  /** Logs stalled ledgers at a limited rate, and each recovery once. */
  #log(stalled: ReadonlyMap<string, StalledProbe>): void {
    const { log } = this.#context;
    const [one] = stalled.values();
    if (one && this.#refusalLog.shouldLog())
      log.warn(
        {
          probes: stalled.size,
          node: one.node,
          probe: one.probe,
          since: new Date(one.since),
          reason: one.reason,
        },
        'the database rejects the rows of a probe: its ledger is stalled',
      );
    if (!one && this.#stalled.size > 0) log.info('all stalled ledgers recovered');
  }
}

const reasonOf = (error: Error) =>
  `${'code' in error ? `${error.code}: ` : ''}${toErrorMessage(error).slice(0, MAX_REASON_LENGTH)}`;
