import { isDeepStrictEqual } from 'node:util';

/** Settings below these may be secret, or lead to one: only that they changed is told. */
const UNTOLD = /^(alerts|changes|exports)\b|url$/i;

/**
 * What another configuration says otherwise: a line a setting, with its path, such as `datasets.subnets.every: 3600000 → 60000`.
 * Empty: they say the same. Defaults are filled in on both sides.
 */
export function configDifference(before: unknown, after: unknown, path = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isMapping(before) && isMapping(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      configDifference(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  if (Array.isArray(before) && Array.isArray(after)) {
    const [named, namedAfter] = [byName(before), byName(after)];
    if (named && namedAfter) {
      const changes = [...new Set([...named.keys(), ...namedAfter.keys()])].flatMap((name) =>
        configDifference(named.get(name), namedAfter.get(name), `${path}[${name}]`),
      );
      return changes.length === 0 ? [`${path}: in another order`] : changes;
    }
    return elementsChanged(before, after, path);
  }
  if (before === undefined) return [`${path}: added${told(path, after, ' ')}`];
  if (after === undefined) return [`${path}: taken out${told(path, before, ' ')}`];
  const values = told(path, before, '') && told(path, after, '');
  return [values ? `${path}: ${told(path, before, '')} → ${values}` : `${path}: changed`];
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The elements of a list by their names; null: they have none. */
function byName(list: readonly unknown[]): Map<string, unknown> | null {
  const named = list.flatMap((one) =>
    isMapping(one) && typeof one.name === 'string' ? [[one.name, one] as const] : [],
  );
  return named.length === list.length ? new Map(named) : null;
}

function elementsChanged(before: readonly unknown[], after: readonly unknown[], path: string): string[] {
  const without = (list: readonly unknown[], other: readonly unknown[]) => {
    const known = new Set(other);
    const among = (one: unknown) =>
      known.has(one) || (typeof one === 'object' && other.some((each) => isDeepStrictEqual(one, each)));
    return list.filter((one) => !among(one));
  };
  const out = without(before, after).map(
    (one) => `${path}: without${told(path, one, ' ') || ' one of them'}`,
  );
  const added = without(after, before).map((one) => `${path}: with${told(path, one, ' ') || ' another one'}`);
  return out.length + added.length === 0 ? [`${path}: in another order`] : [...out, ...added];
}

/** A value as it is told after `lead`; empty: it is not told. */
function told(path: string, value: unknown, lead: string): string {
  const text = JSON.stringify(value, (_, part) => (part instanceof Set ? [...part] : part));
  if (UNTOLD.test(path) || text?.includes('://')) return '';
  return `${lead}${typeof value === 'string' ? value : text}`;
}
