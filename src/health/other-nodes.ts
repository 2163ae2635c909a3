import type { LedgerClock } from './ledger-clock.ts';
import { probeKey } from './ledger-parts.ts';
import type { OtherNodeLook } from './prober-context.ts';
import { NOTHING_KNOWN } from './state.ts';
import { newcomer, type ResumedProbe, WatchedProbe } from './watched-probe.ts';

/** Maximum number of probes of other nodes in one process. An answer can name any node id. */
const MAX_OTHER_PROBES = 100;

/** A probe of another node, and the configured probe at whose URL the node answers. */
interface OtherProbe {
  readonly watched: WatchedProbe;
  at: WatchedProbe;
}

/**
 * Probes of nodes that answer at the URL of a configured name that is bound to another node. Each is recorded under its node
 * id from its first answer until another node answers there.
 */
export class OtherNodes {
  readonly #clock: LedgerClock;
  readonly #resume: (node: string, probe: string) => ResumedProbe | undefined;
  readonly #isConfigured: (node: string, probe: string) => boolean;
  readonly #answering = new Map<string, OtherProbe>();
  /** Probes that ended and are not written yet. */
  #ended: WatchedProbe[] = [];
  /** Number of looks of each probe until it ended last, by key. */
  readonly #looks = new Map<string, number>();

  /** @param resume what an earlier process stored of a probe */
  constructor(
    clock: LedgerClock,
    resume: (node: string, probe: string) => ResumedProbe | undefined,
    isConfigured: (node: string, probe: string) => boolean,
  ) {
    this.#clock = clock;
    this.#resume = resume;
    this.#isConfigured = isConfigured;
  }

  /** The probes of nodes that answer now. */
  get answering(): WatchedProbe[] {
    return [...this.#answering.values()].map(({ watched }) => watched);
  }

  /** The probes to write: those that ended, and those of nodes that answer now. */
  get unwritten(): WatchedProbe[] {
    return [...this.#ended, ...this.answering];
  }

  /** Forgets probes that ended and were written. */
  forget(written: readonly WatchedProbe[]): void {
    this.#ended = this.#ended.filter((probe) => !written.includes(probe));
  }

  /**
   * Takes one look at a configured probe into account.
   * @param other undefined: the configured node answered, or the node is unknown
   * @param settled the wall time from which a new probe is recorded
   * @returns the probe that took the look; null: none
   */
  take(
    configured: WatchedProbe,
    other: OtherNodeLook | undefined,
    at: number,
    staleAfter: number,
    settled: number,
  ): WatchedProbe | null {
    for (const [key, one] of this.#answering)
      if (one.at === configured && one.watched.node !== other?.nodeId) this.#end(key, one.watched, at);
    if (!other || this.#isConfigured(other.nodeId, configured.probe)) return null;
    const key = probeKey(other.nodeId, configured.probe);
    const found = this.#answering.get(key) ?? this.#begin(key, other.nodeId, configured, settled);
    if (!found) return null;
    found.at = configured;
    const { latency, ...look } = other.look;
    found.watched.take({ ...look, at }, latency, staleAfter, this.#clock.toWall(at));
    return found.watched;
  }

  #begin(key: string, node: string, at: WatchedProbe, settled: number): OtherProbe | null {
    if (this.#looks.size >= MAX_OTHER_PROBES && !this.#looks.has(key)) return null;
    const { probe } = at;
    const before = this.#resume(node, probe) ?? newcomer(settled);
    const probes = this.#looks.get(key) ?? before.probes;
    const start = { ...before, state: NOTHING_KNOWN, maintained: false, probes, settled };
    const begun = { watched: new WatchedProbe(node, probe, start), at };
    this.#answering.set(key, begun);
    this.#looks.set(key, probes);
    return begun;
  }

  #end(key: string, watched: WatchedProbe, at: number): void {
    watched.end(at);
    this.#looks.set(key, watched.looks);
    this.#answering.delete(key);
    this.#ended.push(watched);
  }
}
