import { canonicalHex } from '../../datasets/canonical-hex.ts';
import type { Scope, Target } from '../../datasets/contract.ts';
import { UsageError } from '../../lib/errors.ts';
import { findNearestName } from '../../lib/nearest-name.ts';
import type { ConfiguredFeed } from '../../recording/active-feed.ts';

/** Maximum number of valid values of a key in an error. */
const MAX_EXAMPLES = 5;

type Pair = readonly [key: string, value: string];

/**
 * Returns the targets of a feed that match every KEY=VALUE. If no target matches and the source supports
 * targets on demand, returns the target described by the pairs. Keys may be in both spellings (`chainId`,
 * `chain_id`), hexadecimal values in any case.
 * @throws UsageError if a pair is malformed, or nothing matches; with the keys and some valid values
 */
export function matchingTargets(
  feed: ConfiguredFeed,
  scope: Scope,
  texts: readonly string[],
): readonly Target[] {
  const pairs = parsePairs(texts);
  const targets = feed.targets.filter((target) => pairs.every((pair) => matchesPair(target, pair)));
  if (targets.length > 0) return targets;
  const { demand, name } = feed.source;
  if (pairs.length === 0 && !demand)
    throw new UsageError([`watch: contains no target of ${name}: add a target`]);
  const misses = pairs.length === 0 ? [] : explainMisses(feed, pairs);
  if (!demand) throw new UsageError(misses);
  try {
    return [demand(Object.fromEntries(pairs), scope)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The user may have meant a watched target or a target on demand.
    throw new UsageError([...error.problems.map((problem) => `--target ${problem}`), ...misses]);
  }
}

/**
 * Parses KEY=VALUE pairs.
 * @throws UsageError with every malformed pair and duplicate key
 */
function parsePairs(texts: readonly string[]): Pair[] {
  const pairs = texts.flatMap((text): Pair[] => {
    const at = text.indexOf('=');
    return at < 1 ? [] : [[camelCase(text.slice(0, at)), canonicalHex(text.slice(at + 1))]];
  });
  const problems = [
    ...texts.filter((text) => text.indexOf('=') < 1).map((text) => `--target ${text}: must be KEY=VALUE`),
    ...pairs
      .filter(([key], at) => pairs.findIndex(([other]) => other === key) < at)
      .map(([key, value]) => `--target ${key}=${value}: ${key} is given twice`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  return pairs;
}

/** Converts `chain_id` to `chainId`, the spelling in targets. */
const camelCase = (key: string) => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const matchesPair = (target: Target, [key, value]: Pair) =>
  Object.hasOwn(target, key) && canonicalHex(target[key] ?? '') === value;

/** Returns the reasons why no watched target matches the pairs. */
function explainMisses({ targets }: ConfiguredFeed, pairs: readonly Pair[]): string[] {
  const keys = [...new Set(targets.flatMap((target) => Object.keys(target)))];
  const some = (key: string) => {
    const values = [...new Set(targets.flatMap((target) => target[key] ?? []))].sort();
    const more = values.length > MAX_EXAMPLES ? ` and ${values.length - MAX_EXAMPLES} more` : '';
    return `${values.slice(0, MAX_EXAMPLES).join(', ')}${more}`;
  };
  if (keys.length === 0) return [];
  const nearestKey = (key: string) => {
    const nearest = findNearestName(key, keys);
    return nearest === undefined ? '' : `did you mean ${nearest}? `;
  };
  const misses = pairs
    .filter((pair) => !targets.some((target) => matchesPair(target, pair)))
    .map(([key, value]) =>
      keys.includes(key)
        ? `--target ${key}=${value}: no target matches; ${key} may be ${some(key)}`
        : `--target ${key}=${value}: no such key; ${nearestKey(key)}there are ${keys.map((one) => `${one} (${some(one)})`).join(', ')}`,
    );
  const texts = pairs.map((pair) => pair.join('=')).join(' ');
  return misses.length > 0 ? misses : [`--target ${texts}: no target matches all of them together`];
}
