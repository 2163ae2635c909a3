import type { Recorded } from '../../src/datasets/contract.ts';
import { at, type Exact, listAt, membersAt } from './exact-json.ts';

/** A response in the ledger of the sandbox. */
export interface LoggedResponse {
  readonly operation: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly text: string;
  readonly body: Exact;
}

/** Values of a row by column. */
export type ExpectedRow = Readonly<Record<string, Exact>>;

/** Kind of history, natural key and request of a dataset. */
export interface ExpectedIdentity {
  readonly history: Recorded['history'];
  /** Columns of the natural key, separated by spaces. */
  readonly key: string;
  /**
   * Parts of the request that a response does not contain, or for which it may contain another value, such as the
   * other recipient of a reward; separated by spaces. Without `node`, which is compared with the header node-id.
   */
  readonly unstated?: string;
}

/** Expected rows of a dataset by responses; written from the documentation of the services alone. */
export interface Extraction {
  /** Operations by their names in the ledger. */
  readonly operations: readonly string[];
  /** Compared columns. A column that a row lacks is expected to be null. */
  readonly columns: readonly string[];
  readonly rows: (responses: readonly LoggedResponse[]) => ExpectedRow[];
}

/** Subnet of a request without subnetID. */
export const PRIMARY_NETWORK = '11111111111111111111111111111111LpoYY';

type Fields = Readonly<Record<string, string>>;

/** Parses `column:path` pairs. The path of a column without one is its name. */
function fields(text: string): Fields {
  return Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => {
        const [column = '', path = column] = pair.split(':');
        return [column, path];
      }),
  );
}

/**
 * Returns the row of an item. After a path, `/ms` converts Unix milliseconds and `/iso` a time in ISO 8601 to Unix
 * seconds, `/set` sorts a list, and `/outputs` sorts the addresses of each output of a list.
 */
function rowOf(item: Exact, columns: Fields): ExpectedRow {
  return Object.fromEntries(
    Object.entries(columns).map(([column, path]) => {
      const [plain = '', conversion = ''] = path.split('/');
      const value = at(item, plain);
      return [column, value === null ? null : (conversions[conversion]?.(item, plain) ?? value)];
    }),
  );
}

const setAt = (item: Exact, path: string) => listAt(item, path).map(String).sort();

const conversions: Readonly<Record<string, (item: Exact, path: string) => Exact>> = {
  ms: (item, path) => String(Number(at(item, path)) / 1000),
  // The database keeps microseconds, a JavaScript date milliseconds; these times of the sandbox are whole seconds.
  iso: (item, path) => String(Date.parse(String(at(item, path))) / 1000),
  set: (item, path) => setAt(item, path),
  outputs: (item, path) =>
    listAt(item, path).map((one) => ({
      ...Object.fromEntries(membersAt({ one }, 'one')),
      addresses: setAt(one, 'addresses'),
    })),
};

/** Returns the parts of a path by the names in a template such as `/v2/chains/{chain_id}/…`. */
function partsOf(path: string, template: string): Record<string, string> {
  const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>[^/]+)`);
  return { ...new RegExp(`^${pattern}$`).exec(path)?.groups };
}

/** Columns of the request. */
type RequestColumns = Readonly<Record<string, (response: LoggedResponse) => Exact>>;

interface Listing {
  readonly path: string;
  readonly items: string | ((body: Exact, response: LoggedResponse) => readonly Exact[]);
  readonly columns: string;
  readonly more?: RequestColumns;
}

/** Expects one row for each item of the responses. */
export function listing(operation: string, { path, items, columns, more = {} }: Listing): Extraction {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const mapped = fields(columns);
  return {
    operations: [operation],
    columns: [...named, ...Object.keys(more), ...Object.keys(mapped)],
    rows: (responses) =>
      responses.flatMap((response) => {
        const request = {
          ...partsOf(response.path, path),
          ...Object.fromEntries(Object.entries(more).map(([column, of]) => [column, of(response)])),
        };
        const found =
          typeof items === 'string' ? listAt(response.body, items) : items(response.body, response);
        return found.map((item) => ({ ...request, ...rowOf(item, mapped) }));
      }),
  };
}

/** Expects one row for each item of the results of a JSON-RPC method, with the node. */
export function method(
  name: string,
  {
    items = (result) => [result],
    columns,
    more,
  }: { items?: (result: Exact) => readonly Exact[]; columns: string; more?: RequestColumns },
): Extraction {
  return listing(name, {
    path: '/nodes/{node}/ext/.+',
    items: (body) => {
      const result = at(body, 'result');
      return result === null ? [] : items(result);
    },
    columns,
    ...(more ? { more } : {}),
  });
}

/** Expects one row for each node, with the members of the results of several methods. */
export function mergedByNode(parts: Readonly<Record<string, string>>): Extraction {
  const each = Object.entries(parts).map(([name, columns]) => method(name, { columns }));
  return {
    operations: Object.keys(parts),
    columns: [...new Set(each.flatMap(({ columns }) => columns))],
    rows: (responses) => {
      const byNode = new Map<Exact, ExpectedRow>();
      for (const extraction of each)
        for (const row of extraction.rows(
          responses.filter(({ operation }) => operation === extraction.operations[0]),
        ))
          byNode.set(row.node ?? null, { ...byNode.get(row.node ?? null), ...row });
      return [...byNode.values()];
    },
  };
}

/** Expects the rows of several extractions. */
export function together(extractions: readonly Extraction[]): Extraction {
  return {
    operations: extractions.flatMap(({ operations }) => operations),
    columns: [...new Set(extractions.flatMap(({ columns }) => columns))],
    rows: (responses) =>
      extractions.flatMap(({ operations, rows }) =>
        rows(responses.filter(({ operation }) => operations.includes(operation))),
      ),
  };
}
