import type { ChartRequest } from './chart-data.ts';
import type { LineAtMoment } from './known-line.ts';

type Thing = Readonly<Record<string, string | null>>;

/**
 * Returns the shortest labels that distinguish the lines. If there is only one line, its label contains all
 * selected values.
 */
export function labelsOf(all: readonly LineAtMoment[], { keyValues, moments }: ChartRequest): string[] {
  const names = telling(all.map(({ line }) => line.of));
  const one = Object.values(keyValues).flat().join(' ');
  return all.map(({ line, moment }) => {
    const of = wordsOf(line.of, names);
    const known = moment ? `known at ${moment.slice(0, 16).replace('T', ' ')}` : 'known now';
    return [of || one || line.of.value, ...(moments.length > 1 || moment ? [known] : [])].join(' ');
  });
}

const wordsOf = (thing: Thing, names: readonly string[]) =>
  names.map((name) => thing[name] ?? 'none').join(' ');

/** Returns the first columns that suffice to distinguish all keys. */
function telling(things: readonly Thing[]): string[] {
  const countOf = (names: readonly string[]) => new Set(things.map((one) => wordsOf(one, names))).size;
  const all = Object.keys(things[0] ?? {});
  const chosen: string[] = [];
  for (const name of all) {
    if (countOf(chosen) === countOf(all)) break;
    if (countOf([...chosen, name]) > countOf(chosen)) chosen.push(name);
  }
  return chosen;
}
