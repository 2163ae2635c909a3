import { isDeepStrictEqual } from 'node:util';

/** Matches settings that may be secret or point to a secret: their values are not logged. */
const SENSITIVE_SETTINGS = /^(alerts|changes|exports)\b|url$/i;

/**
 * Returns the differences of two configurations: one line per setting with its path, such as
 * `datasets.subnets.every: 3600000 → 60000`. Empty if they are equal. Both sides include the defaults.
 */
export function diffConfigs(before: unknown, after: unknown, path = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isMapping(before) && isMapping(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      diffConfigs(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  if (Array.isArray(before) && Array.isArray(after)) {
    const [named, namedAfter] = [byName(before), byName(after)];
    if (named && namedAfter) {
      const changes = [...new Set([...named.keys(), ...namedAfter.keys()])].flatMap((name) =>
        diffConfigs(named.get(name), namedAfter.get(name), `${path}[${name}]`),
      );
      return changes.length === 0 ? [`${path}: in another order`] : changes;
    }
    return elementsChanged(before, after, path);
  }
  if (before === undefined) return [`${path}: added${formatValue(path, after, ' ')}`];
  if (after === undefined) return [`${path}: taken out${formatValue(path, before, ' ')}`];
  const values = formatValue(path, before, '') && formatValue(path, after, '');
  return [values ? `${path}: ${formatValue(path, before, '')} → ${values}` : `${path}: changed`];
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the elements of a list by their names. Returns null if not all have one. */
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
    (one) => `${path}: without${formatValue(path, one, ' ') || ' one of them'}`,
  );
  const added = without(after, before).map(
    (one) => `${path}: with${formatValue(path, one, ' ') || ' another one'}`,
  );
  return out.length + added.length === 0 ? [`${path}: in another order`] : [...out, ...added];
}

/** Formats a value after `lead`. Returns an empty text if the value must not be logged. */
function formatValue(path: string, value: unknown, lead: string): string {
  const text = JSON.stringify(value, (_, part) => (part instanceof Set ? [...part] : part));
  if (SENSITIVE_SETTINGS.test(path) || text?.includes('://')) return '';
  return `${lead}${typeof value === 'string' ? value : text}`;
}
