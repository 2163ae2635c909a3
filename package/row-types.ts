import { type Declared, type DeclaredColumn, isPublic } from '../src/db/declared.ts';

/** The TypeScript type of a value in HTTP responses, by PostgreSQL type. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  numeric: 'string',
  bigint: 'number | string',
  integer: 'number',
  'double precision': 'number | string',
  boolean: 'boolean',
  timestamptz: 'string',
  date: 'string',
  interval: 'string',
  jsonb: 'unknown',
  bytea: 'string',
  uuid: 'string',
  'text[]': 'readonly string[]',
};

/**
 * Renders the declarations of the rows that `chain-recorder/client` reads: one type per public view, with the
 * comment of each column.
 * @param histories the view with every version of a dataset's rows, by dataset
 * @throws Error if a column has an unsupported type
 */
export function rowTypes(declared: readonly Declared[], histories: ReadonlyMap<string, string>): string {
  const views = declared.filter(
    (object) => isPublic(object) && (object.kind === 'view' || object.value === undefined),
  );
  const rows = views.map(
    (object) =>
      `${doc(object.comment, '  ')}  readonly ${object.name}: {\n${object.columns.map((column) => field(object, column)).join('\n')}\n  };`,
  );
  const datasets = [...histories].map(([dataset, view]) => `  readonly ${dataset}: '${view}';`);
  return `/** Rows by view. */
export interface Views {
${rows.join('\n')}
}

/** The view with every version of a dataset's rows, by dataset. */
export interface Datasets {
${datasets.join('\n')}
}
`;
}

function field({ name: view }: Declared, { name, type, comment, notNull }: DeclaredColumn): string {
  const known = TYPES[type];
  if (!known) throw new Error(`reporting.${view}.${name}: the type ${type} has no TypeScript equivalent`);
  return `${doc(comment, '    ')}    readonly ${name}: ${known}${notNull || known === 'unknown' ? '' : ' | null'};`;
}

const doc = (text: string, indent: string) => `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`;
