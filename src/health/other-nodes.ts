import type { LedgerClock } from './ledger-clock.ts';
import { probeKey } from './ledger-parts.ts';
import type { OtherNodeResult } from './prober-context.ts';
import { INITIAL_PROBE_STATE } from './state.ts';
import { createInitialProbe, type ResumedProbe, WatchedProbe } from './watched-probe.ts';

/** Maximum number of probes of other nodes in one process, because a response can contain any node id. */
const MAX_OTHER_PROBES = 100;

/** A probe of another node, and the configured probe at whose URL the node responds. */
interface OtherProbe {
  readonly watched: WatchedProbe;
  at: WatchedProbe;
}

/**
 * Probes of nodes that respond at the URL of a configured name that is bound to another node. Each node is
 * recorded under its node id, from its first response until another node responds there.
 */
export class OtherNodes {
  readonly #clock: LedgerClock;
  readonly #resume: (node: string, probe: string) => ResumedProbe | undefined;
  readonly #isConfigured: (node: string, probe: string) => boolean;
  readonly #answering = new Map<string, OtherProbe>();
  /** Ended probes that are not written yet. */
  #ended: WatchedProbe[] = [];
  /**
   * Counts of the ended recordings of each probe, by key: the number of queries, and the names of the checks.
   */
  readonly #earlier = new Map<string, { readonly queryCount: number; readonly names: ReadonlySet<string> }>();

  /** @param resume returns the stored state of a probe */
  constructor(
    clock: LedgerClock,
    resume: (node: string, probe: string) => ResumedProbe | undefined,
    isConfigured: (node: string, probe: string) => boolean,
  ) {
    this.#clock = clock;
    this.#resume = resume;
    this.#isConfigured = isConfigured;
  }

  /** Probes of nodes that currently respond. */
  get answering(): WatchedProbe[] {
    return [...this.#answering.values()].map(({ watched }) => watched);
  }

  /** Probes to write: ended ones, and those of nodes that currently respond. */
  get unwritten(): WatchedProbe[] {
    return [...this.#ended, ...this.answering];
  }

  /** Removes ended probes that were written. */
  forget(written: readonly WatchedProbe[]): void {
    this.#ended = this.#ended.filter((probe) => !written.includes(probe));
  }

  /**
   * Processes one query of a configured probe.
   * @param other undefined: the configured node responded, or the node is unknown
   * @param settled wall time from which a new probe is recorded
   * @returns the probe of the other node; null: none
   */
  addResult(
    configured: WatchedProbe,
    other: OtherNodeResult | undefined,
    at: number,
    staleAfter: number,
    settled: number,
  ): WatchedProbe | null {
    for (const [key, one] of this.#answering)
      if (one.at === configured && one.watched.node !== other?.nodeId) this.#end(key, one.watched, at);
    if (!other || this.#isConfigured(other.nodeId, configured.probe)) return null;
    const key = probeKey(other.nodeId, configured.probe);
    const found = this.#answering.get(key) ?? this.#start(key, other.nodeId, configured, settled);
    if (!found) return null;
    found.at = configured;
    const { latency, ...result } = other.result;
    found.watched.addResult({ ...result, at }, latency, staleAfter, this.#clock.toWall(at));
    return found.watched;
  }

  #start(key: string, node: string, at: WatchedProbe, settled: number): OtherProbe | null {
    const earlier = this.#earlier.get(key);
    if (this.#earlier.size >= MAX_OTHER_PROBES && !earlier) return null;
    const { probe } = at;
    const before = this.#resume(node, probe) ?? createInitialProbe(settled);
    const { queryCount: probes = before.probes, names: endedNames = new Set<string>() } = earlier ?? {};
    const state = { ...INITIAL_PROBE_STATE, endedNames };
    const start = { ...before, state, maintained: false, probes, settled };
    const started = { watched: new WatchedProbe(node, probe, start), at };
    this.#answering.set(key, started);
    this.#earlier.set(key, { queryCount: probes, names: endedNames });
    return started;
  }

  #end(key: string, watched: WatchedProbe, at: number): void {
    watched.end(at);
    this.#earlier.set(key, { queryCount: watched.queryCount, names: watched.checkNames });
    this.#answering.delete(key);
    this.#ended.push(watched);
  }
}
