import { UpstreamFailure } from '../upstreams/failure.ts';
import { oneSpelling } from './canonical-hex.ts';
import type { Dataset, Target } from './contract.ts';
import { memberOf } from './sources/answer.ts';

/**
 * Fields that state what was requested, by key of the target: paths such as `from.address`, which may lead through lists. Only if
 * all fields of a key state another value, the answer is about another thing. A field that is absent states nothing.
 */
export type StatedRequest = Readonly<Record<string, readonly string[]>>;

/** Returns how something contradicts the request for it; null if it does not. */
type Contradiction = (thing: unknown, target: Target) => string | null;

/** Builds the function that compares items or answers with their request. */
export function buildContradiction(stated: StatedRequest = {}): Contradiction {
  const fields = Object.entries(stated).map(([key, paths]) => ({
    key,
    paths: paths.map((path) => path.split('.')),
  }));
  return (thing, target) => {
    for (const { key, paths } of fields) {
      const requested = target[key];
      if (requested === undefined) continue;
      const stated = paths.map((path) => valuesAt(thing, path));
      const isOther = (values: readonly string[]) =>
        values.length > 0 && values.every((value) => oneName(key, value) !== oneName(key, requested));
      if (stated.every(isOther))
        return `the answer is about ${paths[0]?.join('.')} ${stated[0]?.[0]}, and ${requested} was requested`;
    }
    return null;
  };
}

/** The one form of a value. The chain data API has two names for one network. */
const oneName = (key: string, value: string) =>
  key === 'network' && value === 'testnet' ? 'fuji' : oneSpelling(value);

/** Adds to a dataset's reader of items that it refuses an answer which is, as a whole, about another thing than was requested. */
export function itemsAsRequested({
  items,
  states,
  answerStates,
}: Pick<Dataset, 'items' | 'states' | 'answerStates'>): Dataset['items'] {
  if (!states && !answerStates) return items;
  const [ofAnswer, ofItem] = [buildContradiction(answerStates), buildContradiction(states)];
  return (body, target) => {
    const read = items(body, target);
    const [first = null, ...others] = read.map((item) => ofItem(item, target));
    const contradiction = ofAnswer(body, target) ?? (others.includes(null) ? null : first);
    if (contradiction !== null) throw new UpstreamFailure('malformed', contradiction);
    return read;
  };
}

/** The values at a path, as texts; through a list those of its elements. */
function valuesAt(thing: unknown, path: readonly string[]): string[] {
  if (Array.isArray(thing)) return thing.flatMap((one: unknown) => valuesAt(one, path));
  const [name, ...inner] = path;
  if (name !== undefined) return valuesAt(memberOf(thing, name), inner);
  return thing === undefined || thing === null ? [] : [String(thing)];
}
