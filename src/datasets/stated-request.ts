import { NETWORK_IDS } from '../config/networks.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import { canonicalHex } from './canonical-hex.ts';
import type { Dataset, Target } from './contract.ts';
import { getMember } from './sources/answer.ts';

/**
 * Fields that repeat the request, by key of the target: paths such as `from.address`, which may lead through
 * lists. A response contradicts the request only if all fields of a key have another value. A missing field
 * is no contradiction.
 */
export type StatedRequest = Readonly<Record<string, readonly string[]>>;

/** Returns how a value contradicts its request. Returns null if the value does not contradict the request. */
type Contradiction = (value: unknown, target: Target) => string | null;

/** Builds the function that compares items or responses with their request. */
export function buildContradictionCheck(stated: StatedRequest = {}): Contradiction {
  const fields = Object.entries(stated).map(([key, paths]) => ({
    key,
    paths: paths.map((path) => path.split('.')),
  }));
  return (value, target) => {
    for (const { key, paths } of fields) {
      const requested = target[key];
      if (requested === undefined) continue;
      const stated = paths.map((path) => valuesAt(value, path));
      const isOther = (values: readonly string[]) =>
        values.length > 0 && values.every((value) => isOtherValue(key, value, requested));
      if (stated.every(isOther))
        return `the answer is about ${paths[0]?.join('.')} ${stated[0]?.[0]}, and ${requested} was requested`;
    }
    return null;
  };
}

/**
 * Values of the keys that are enumerations, by name. Two names of the same value count as equal. The upstream
 * may add values or rename them, so that an unknown name contradicts nothing.
 */
const ENUMERATIONS: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  network: NETWORK_IDS,
  blockchainId: { 'p-chain': 'P', 'x-chain': 'X', 'c-chain': 'C' },
};

/** Returns whether a stated value differs from the requested one. */
function isOtherValue(key: string, stated: string, requested: string): boolean {
  const known = ENUMERATIONS[key];
  if (!known) return canonicalHex(stated) !== canonicalHex(requested);
  return Object.hasOwn(known, stated) && known[stated] !== known[requested];
}

/**
 * Extends the item reader of a dataset, so that the reader rejects a response that as a whole contradicts the
 * request.
 */
export function withRequestCheck({
  items,
  states,
  answerStates,
}: Pick<Dataset, 'items' | 'states' | 'answerStates'>): Dataset['items'] {
  if (!states && !answerStates) return items;
  const [ofAnswer, ofItem] = [buildContradictionCheck(answerStates), buildContradictionCheck(states)];
  return (body, target) => {
    const read = items(body, target);
    const [first = null, ...others] = read.map((item) => ofItem(item, target));
    const contradiction = ofAnswer(body, target) ?? (others.includes(null) ? null : first);
    if (contradiction !== null) throw new UpstreamFailure('malformed', contradiction);
    return read;
  };
}

/** Returns the values at a path, as texts. A list on the path contributes all of its elements. */
function valuesAt(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => valuesAt(one, path));
  const [name, ...inner] = path;
  if (name !== undefined) return valuesAt(getMember(value, name), inner);
  return value === undefined || value === null ? [] : [String(value)];
}
