import { type Declared, type DeclaredColumn, isPublic } from '../src/db/declared.ts';

/** A PostgreSQL type in TypeScript: the type of its values, and the Drizzle column that reads them. */
interface TypedAs {
  readonly data: string;
  readonly driver: string;
  readonly dataType: string;
  readonly columnType: string;
  /** The JavaScript code of the column, with NAME in place of the quoted name. */
  readonly column: string;
}

/**
 * `numeric` is a string, because a double is not exact. `bigint` is a number: in `reporting`, values that can
 * exceed 2^53 are `numeric`.
 */
const TYPES: Readonly<Record<string, TypedAs>> = {
  text: typed('string', 'string', 'string', 'PgText', 'text(NAME)'),
  numeric: typed('string', 'string', 'string', 'PgNumeric', 'numeric(NAME)'),
  bigint: typed('number', 'number | string', 'number', 'PgBigInt53', "bigint(NAME, { mode: 'number' })"),
  integer: typed('number', 'number | string', 'number', 'PgInteger', 'integer(NAME)'),
  'double precision': typed(
    'number',
    'number | string',
    'number',
    'PgDoublePrecision',
    'doublePrecision(NAME)',
  ),
  boolean: typed('boolean', 'boolean', 'boolean', 'PgBoolean', 'boolean(NAME)'),
  timestamptz: typed('Date', 'string', 'date', 'PgTimestamp', 'timestamp(NAME, { withTimezone: true })'),
  date: typed('string', 'string', 'string', 'PgDateString', "date(NAME, { mode: 'string' })"),
  interval: typed('string', 'string', 'string', 'PgInterval', 'interval(NAME)'),
  jsonb: typed('unknown', 'unknown', 'json', 'PgJsonb', 'jsonb(NAME)'),
  bytea: typed('Buffer', 'Buffer', 'custom', 'PgCustomColumn', 'bytea(NAME)'),
  uuid: typed('string', 'string', 'string', 'PgUUID', 'uuid(NAME)'),
  'text[]': typed('string[]', 'string | string[]', 'array', 'PgArray', 'text(NAME).array()'),
};

function typed(data: string, driver: string, dataType: string, columnType: string, column: string): TypedAs {
  return { data, driver, dataType, columnType, column };
}

/** The module `chain-recorder/schema`: its JavaScript, and its declarations for TypeScript. */
export interface TypedSchema {
  readonly javascript: string;
  readonly declarations: string;
}

/**
 * Generates a module of `reporting`: a Drizzle view for each view, and a function for each SQL function that
 * returns rows. Names are in camel case. Every view, column and parameter has its comment.
 * @throws Error if a column has an unsupported type
 */
export function typedSchema(declared: readonly Declared[]): TypedSchema {
  const returnsRows = declared.filter(
    (object) => isPublic(object) && (object.kind === 'view' || object.value === undefined),
  );
  return {
    javascript: [SCRIPT, ...returnsRows.map(script)].join('\n'),
    declarations: [DECLARATIONS, ...returnsRows.map(declaration)].join('\n'),
  };
}

const SCRIPT = `import { sql } from 'drizzle-orm';
import {
  bigint, boolean, customType, date, doublePrecision, integer, interval, jsonb, numeric, pgSchema, QueryBuilder, text, timestamp, uuid,
} from 'drizzle-orm/pg-core';

const reporting = pgSchema('reporting');
const bytea = customType({ dataType: () => 'bytea' });

function rows(name, types, columns) {
  return (args = {}) => {
    const parameters = Object.entries(types).flatMap(([key, [parameter, type]]) => {
      const value = args[key] instanceof Date ? args[key].toISOString() : args[key];
      return value === undefined ? [] : [sql\`\${sql.identifier(parameter)} => \${sql.param(value)}::\${sql.raw(type)}\`];
    });
    const fields = Object.fromEntries(
      Object.entries(columns).map(([key, column]) => [key, sql\`\${sql.identifier(column.name)}\`.mapWith(column).as(column.name)]),
    );
    const from = sql\`\${sql.identifier('reporting')}.\${sql.identifier(name)}(\${sql.join(parameters, sql\`, \`)})\`;
    return new QueryBuilder().select(fields).from(from).as(name);
  };
}

const columnsOf = (name, columns) => {
  const view = reporting.view(name, columns).existing();
  return Object.fromEntries(Object.keys(columns).map((key) => [key, view[key]]));
};
`;

const DECLARATIONS = `import type { SQL } from 'drizzle-orm';
import type { PgColumn, PgViewWithSelection, SubqueryWithSelection } from 'drizzle-orm/pg-core';

interface Types {
${Object.entries(TYPES)
  .map(
    ([name, { data, driver, dataType, columnType }]) =>
      `  '${name}': { data: ${data}; driverParam: ${driver}; dataType: '${dataType}'; columnType: '${columnType}' };`,
  )
  .join('\n')}
}

type Column<View extends string, Name extends string, Type extends keyof Types, NotNull extends boolean> = PgColumn<{
  name: Name;
  tableName: View;
  dataType: Types[Type]['dataType'];
  columnType: Types[Type]['columnType'];
  data: Types[Type]['data'];
  driverParam: Types[Type]['driverParam'];
  notNull: NotNull;
  hasDefault: false;
  isPrimaryKey: false;
  isAutoincrement: false;
  hasRuntimeDefault: false;
  enumValues: undefined;
  baseColumn: never;
  identity: undefined;
  generated: undefined;
}>;
`;

function script(object: Declared): string {
  const { name, columns } = object;
  const columnTypes = columns.map((column) => {
    const type = typeOf(object, column).column.replace('NAME', quoted(column.name));
    return `  ${camelCase(column.name)}: ${type}${column.notNull ? '.notNull()' : ''},`;
  });
  const all = `{\n${columnTypes.join('\n')}\n}`;
  if (object.kind === 'view')
    return `export const ${camelCase(name)} = reporting.view(${quoted(name)}, ${all}).existing();\n`;
  const parameters = object.parameters.map(
    (one) => `${camelCase(one.name)}: [${quoted(one.name)}, ${quoted(one.type)}]`,
  );
  return `export const ${camelCase(name)} = rows(${quoted(name)}, { ${parameters.join(', ')} }, columnsOf(${quoted(name)}, ${all}));\n`;
}

function declaration(object: Declared): string {
  const { name, comment, columns } = object;
  const docComment = doc(comment, '');
  if (object.kind === 'view') {
    const lines = columns.map((column) => {
      typeOf(object, column);
      const type = `Column<'${name}', '${column.name}', '${column.type}', ${column.notNull ?? false}>`;
      return `${doc(column.comment, '  ')}  ${camelCase(column.name)}: ${type};`;
    });
    return `${docComment}export declare const ${camelCase(name)}: PgViewWithSelection<'${name}', true, {\n${lines.join('\n')}\n}>;\n`;
  }
  const parameterTypes = object.parameters.map((one) => {
    const optional = one.preset === undefined ? '' : '?';
    return `${doc(one.comment, '  ')}  ${camelCase(one.name)}${optional}: ${typeOf(object, one).data};`;
  });
  const lines = columns.map((column) => {
    const type = `SQL.Aliased<${typeOf(object, column).data}${column.notNull ? '' : ' | null'}>`;
    return `${doc(column.comment, '  ')}  ${camelCase(column.name)}: ${type};`;
  });
  const all = object.parameters.every(({ preset }) => preset !== undefined);
  const parameter =
    parameterTypes.length === 0 ? '' : `args${all ? '?' : ''}: {\n${parameterTypes.join('\n')}\n}`;
  return `${docComment}export declare function ${camelCase(name)}(${parameter}): SubqueryWithSelection<{\n${lines.join('\n')}\n}, '${name}'>;\n`;
}

function typeOf({ name }: Declared, column: DeclaredColumn): TypedAs {
  const type = TYPES[column.type];
  if (!type)
    throw new Error(`reporting.${name}.${column.name}: the type ${column.type} has no TypeScript equivalent`);
  return type;
}

const doc = (text: string, indent: string) => `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`;
const quoted = (text: string) => `'${text}'`;

/** Converts a name to camel case: `node_id` → `nodeId`. */
function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
