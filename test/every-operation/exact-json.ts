/** A JSON value with every number as its source text, so that nothing is rounded. */
export type Exact = null | boolean | string | readonly Exact[] | { readonly [name: string]: Exact };

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON text. @throws SyntaxError if it is invalid */
export function exactJson(text: string): Exact {
  const value: Exact = JSON.parse(
    text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${token}"`)),
  );
  return value;
}

/** Returns the value at a path such as `price.value`, or null. */
export function at(value: Exact | undefined, path: string): Exact {
  let inner: Exact | undefined = value;
  for (const name of path.split('.')) {
    if (typeof inner !== 'object' || inner === null || isList(inner)) return null;
    inner = inner[name];
  }
  return inner ?? null;
}

/** Returns the list at a path, or an empty one. */
export function listAt(value: Exact, path: string): readonly Exact[] {
  const found = at(value, path);
  return typeof found === 'object' && found !== null && isList(found) ? found : [];
}

/** The members of the object at a path. */
export function membersAt(value: Exact, path: string): [string, Exact][] {
  const found = at(value, path);
  return typeof found === 'object' && found !== null && !isList(found) ? Object.entries(found) : [];
}

/** Returns JSON text that is the same for the same value, whatever the order of its members. */
export function canonical(value: Exact): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`;
}

/** Returns the texts of the values of every member of that name, in the order of the text. */
export function memberTexts(text: string, name: string): string[] {
  const found: string[] = [];
  const mark = `"${name}":`;
  for (let start = text.indexOf(mark); start >= 0; start = text.indexOf(mark, start + 1)) {
    const from = start + mark.length;
    found.push(text.slice(from, endOfValue(text, from)));
  }
  return found;
}

/** Returns the end of the string, object or list that starts at `from`. */
function endOfValue(text: string, from: number): number {
  const token = /"(?:[^"\\]|\\.)*"|[[\]{}]/g;
  token.lastIndex = from;
  let depth = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if ('[{'.includes(match[0])) depth += 1;
    if (']}'.includes(match[0])) depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return text.length;
}

function isList(value: object): value is readonly Exact[] {
  return Array.isArray(value);
}
