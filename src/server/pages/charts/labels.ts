import type { Drawing } from './drawing.ts';
import type { Known } from './known-line.ts';

/** What tells each line from the others; all that was told of it where there is only one. */
export function labelsOf(all: readonly Known[], { told, moments }: Drawing): string[] {
  const things = all.map(({ line }): Readonly<Record<string, string | null>> => line.of);
  const names = Object.keys(things[0] ?? {});
  const differing = names.filter((name) => new Set(things.map((one) => one[name])).size > 1);
  const one = Object.values(told).flat().join(' ');
  return all.map(({ line, moment }) => {
    const of = differing.map((name) => line.of[name] ?? 'none').join(' ');
    const known = moment ? `known at ${moment.toISOString().slice(0, 16).replace('T', ' ')}` : 'known now';
    return [of || one || line.of.value, ...(moments.length > 1 || moment ? [known] : [])].join(' ');
  });
}
