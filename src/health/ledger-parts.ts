import { WHOLE_PROBE } from './health-reading.ts';
import type { LedgerBatch, LedgerTransition, ProbeProgress } from './ledger.ts';

/** The part of a batch for one probe. */
export interface LedgerPart {
  readonly node: string;
  readonly probe: string;
  readonly transitions: readonly LedgerTransition[];
  readonly progress: ProbeProgress | null;
}

/** Returns the key of a probe, unique in its observer. */
export const probeKey = (node: string, probe: string) => `${node}\n${probe}`;

/** Splits a batch by probe. */
export function splitByProbe({
  transitions,
  probes,
}: Pick<LedgerBatch, 'transitions' | 'probes'>): Map<string, LedgerPart> {
  const parts = new Map<string, LedgerPart & { readonly transitions: LedgerTransition[] }>();
  const partOf = ({ node, probe }: { node: string; probe: string }) => {
    const key = probeKey(node, probe);
    const part = parts.get(key) ?? { node, probe, transitions: [], progress: null };
    parts.set(key, part);
    return part;
  };
  for (const transition of transitions) partOf(transition).transitions.push(transition);
  for (const progress of probes)
    parts.set(probeKey(progress.node, progress.probe), { ...partOf(progress), progress });
  return parts;
}

/** Maximum number of transitions of one probe that wait to be stored. */
const MAX_WAITING_TRANSITIONS = 1_000;

/** Merges a waiting part with a later part. */
export function mergeParts(waiting: LedgerPart, more: LedgerPart | undefined): LedgerPart {
  if (!more) return waiting;
  const transitions = [...waiting.transitions, ...more.transitions];
  return {
    ...waiting,
    transitions:
      transitions.length > MAX_WAITING_TRANSITIONS ? dropMiddleTransitions(transitions) : transitions,
    progress: more.progress ?? waiting.progress,
  };
}

/** Returns the first and the last transition of each check. The first transition gets the state `unknown`. */
function dropMiddleTransitions(transitions: readonly LedgerTransition[]): LedgerTransition[] {
  return [...new Set(transitions.map(({ check }) => check))].flatMap((check) => {
    const mine = transitions
      .filter((transition) => transition.check === check)
      .sort((one, other) => one.at - other.at);
    const [first, last] = [mine[0], mine.at(-1)];
    if (!first || !last || first === last) return mine;
    const error = 'too many changes of state waited to be stored';
    const gap = {
      ...first,
      state: 'unknown' as const,
      error,
      message: null,
      failingSince: null,
      ended: null,
    };
    return [
      { ...gap, reported: check !== WHOLE_PROBE && first.reported },
      { ...last, ended: null },
    ];
  });
}

const NOT_STORABLE = 'the response of the node could not be stored';

/** Returns the part without the texts of the node, with only states, times and names of checks. */
export function withoutNodeTexts(part: LedgerPart): LedgerPart {
  const { progress } = part;
  return {
    ...part,
    transitions: part.transitions.map((transition) => ({
      ...transition,
      error: transition.error === null ? null : NOT_STORABLE,
      message: null,
      failingSince: null,
      ended: null,
    })),
    progress: progress && {
      ...progress,
      suspect: progress.suspect && { ...progress.suspect, error: NOT_STORABLE, checks: null },
      latest: null,
    },
  };
}
