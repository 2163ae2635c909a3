import { refusesRows, storeByHalves } from '../db/bisect-insert.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { type LedgerBatch, type RefusedProbe, type TakenObserver, writeLedger } from './ledger.ts';
import { joined, type LedgerPart, partsOf, probeKey, withoutWords } from './ledger-parts.ts';
import { Seldom } from './log-throttle.ts';
import type { ProberContext } from './prober-context.ts';

/** Retry interval for a probe whose rows the database rejects, in ms. */
const TRY_AGAIN = 30_000;
const TELL_EVERY = 60_000;
const LONGEST_REASON = 200;

/** A probe whose ledger is stalled. */
interface Standing extends RefusedProbe {
  readonly part: LedgerPart;
  /** Time of the next retry, on the monotonic clock. */
  readonly againAt: number;
}

/**
 * Writes the ledger of an observer. Rows that the database rejects affect only their probe. They are stored
 * without the texts of the node if this helps. Otherwise they wait: the ledger of that probe is stalled, and
 * all others continue.
 */
export class LedgerKeeper {
  readonly #context: Pick<ProberContext, 'sql' | 'observer' | 'holder' | 'log'>;
  readonly #clock: Clock;
  readonly #wordless: Seldom;
  readonly #told: Seldom;
  #standing: ReadonlyMap<string, Standing>;
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
    { refused, lease }: Pick<TakenObserver, 'refused' | 'lease'>,
  ) {
    this.#context = context;
    this.#clock = steady;
    this.#wordless = new Seldom(steady, TELL_EVERY);
    this.#told = new Seldom(steady, TELL_EVERY);
    this.#settled = settled;
    this.#lease = lease;
    this.#standing = new Map(
      refused.map((one) => {
        const { node, probe } = one;
        const part = { node, probe, transitions: [], progress: null };
        return [probeKey(node, probe), { ...one, part, againAt: 0 }];
      }),
    );
  }

  /**
   * Writes a batch, together with waiting rows. After an error, the same batch may be written again.
   * @throws LeaseLost if another process holds the observer
   * @throws database errors that are not about the rows
   */
  async write(batch: LedgerBatch): Promise<void> {
    const now = this.#clock();
    const parts = partsOf(batch);
    for (const [key, { part }] of this.#standing) parts.set(key, joined(part, parts.get(key)));
    const waits = (key: string) => (this.#standing.get(key)?.againAt ?? 0) > now;
    const due = [...parts].flatMap(([key, part]) => (waits(key) ? [] : [part]));
    const standing = new Map(
      [...this.#standing].flatMap(([key, one]) =>
        waits(key) ? [[key, { ...one, part: parts.get(key) ?? one.part }] as const] : [],
      ),
    );
    try {
      await this.#writeParts(due, { ...batch, refused: [...standing.values()] });
    } catch (error) {
      if (!refusesRows(error)) throw error;
      for (const one of await this.#refusedOf(due, now)) standing.set(probeKey(one.node, one.probe), one);
      // The heartbeat is written last, because it marks everything before as final.
      await this.#writeParts([], { ...batch, refused: [...standing.values()] });
    }
    this.#tell(standing);
    this.#standing = standing;
    this.#settled = Math.max(this.#settled, batch.heartbeat ?? this.#settled);
  }

  /**
   * Stores each part, without the texts of the node if necessary.
   * @returns the parts that the database rejects
   */
  async #refusedOf(parts: readonly LedgerPart[], now: number): Promise<Standing[]> {
    const nothing = { heartbeat: null, absences: [] };
    const store = (some: readonly LedgerPart[]) => this.#writeParts(some, nothing);
    const refused = await storeByHalves(parts, store);
    const standing: Standing[] = [];
    for (const { item, error } of refused) {
      const { node, probe } = item;
      const [again] = await storeByHalves([withoutWords(item)], store);
      const reason = reasonOf(again?.error ?? error);
      if (again) {
        const since = this.#standing.get(probeKey(node, probe))?.since ?? this.#settled;
        standing.push({ node, probe, since, reason, part: item, againAt: now + TRY_AGAIN });
      } else if (this.#wordless.mayTell())
        this.#context.log.warn(
          { node, probe, reason },
          'what a node said could not be stored; its states were',
        );
    }
    return standing;
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

  /** Logs stalled ledgers at a limited rate, and their recovery once. */
  #tell(standing: ReadonlyMap<string, Standing>): void {
    const { log } = this.#context;
    const [one] = standing.values();
    if (one && this.#told.mayTell())
      log.warn(
        {
          probes: standing.size,
          node: one.node,
          probe: one.probe,
          since: new Date(one.since),
          reason: one.reason,
        },
        'the database refuses what is said of a probe: its ledger is stalled',
      );
    if (!one && this.#standing.size > 0) log.info('every ledger goes on');
  }
}

const reasonOf = (error: Error) =>
  `${'code' in error ? `${error.code}: ` : ''}${messageOf(error).slice(0, LONGEST_REASON)}`;
