/** A column of a declared object. */
export interface DeclaredColumn {
  readonly name: string;
  /** PostgreSQL's type, such as `timestamptz`. */
  readonly type: string;
  /** Description of the column. Stored as the COMMENT of a view's column. */
  readonly comment: string;
  /** True if the column is never null. Default: false. */
  readonly notNull?: boolean;
}

/** Declares a column that may be null. */
export const declaredColumn = (name: string, type: string, comment: string): DeclaredColumn => ({
  name,
  type,
  comment,
});

interface DeclaredBase {
  /** Name of the object, unique within all schemas of `reporting`. */
  readonly name: string;
  /** The schema of the object. Default: `reporting`. */
  readonly schema?: ReportingSchema;
  /** Description of a row. Stored as the COMMENT of the object. */
  readonly comment: string;
  /** Columns in order. For a function: the columns of the returned rows. */
  readonly columns: readonly DeclaredColumn[];
  /** The query, in SQL. */
  readonly body: string;
}

export interface DeclaredView extends DeclaredBase {
  readonly kind: 'view';
}

/** A parameter of a declared function. */
export interface DeclaredParameter extends DeclaredColumn {
  /** The default value, in SQL. Without a default value, the parameter is required. */
  readonly preset?: string;
}

/** A function that returns rows or one value. */
export interface DeclaredFunction extends DeclaredBase {
  readonly kind: 'function';
  readonly parameters: readonly DeclaredParameter[];
  /** The type of a single returned value. Absent: the function returns rows. */
  readonly value?: string;
  /** Language of the body. Default: SQL. */
  readonly language?: 'plpgsql';
  /** The view whose row type the function returns. Absent: the rows have the function's own columns. */
  readonly rowsOf?: Pick<DeclaredView, 'name' | 'schema'>;
}

/**
 * The schema of the relations that users read, the schema of the elements of their lists, and the schema of the
 * helpers that these relations use.
 */
export const REPORTING_SCHEMAS = ['reporting', 'reporting_lists', 'reporting_internal'] as const;

export type ReportingSchema = (typeof REPORTING_SCHEMAS)[number];

/** An object of one of {@link REPORTING_SCHEMAS}, created from its declaration instead of by a migration. */
export type Declared = DeclaredView | DeclaredFunction;

/**
 * Returns the names of the declared objects that an object reads from, and of the view whose row type a
 * function returns.
 */
export function dependenciesOf(object: Declared): string[] {
  const text = object.body.replaceAll(/--.*$/gm, '');
  const names = [...text.matchAll(/\breporting(?:_lists|_internal)?\.(\w+)/g)].map(([, name]) => name ?? '');
  const rowsOf = object.kind === 'function' && object.rowsOf !== undefined ? [object.rowsOf.name] : [];
  return [...new Set([...names, ...rowsOf])];
}

/**
 * Sorts objects so that each comes after the objects it depends on. Otherwise the order is kept.
 * @throws Error if the dependencies are circular
 */
export function inOrder(objects: readonly Declared[]): Declared[] {
  const byName = new Map(objects.map((object) => [object.name, object]));
  const sorted = new Set<Declared>();
  const visit = (object: Declared, path: readonly string[]): void => {
    if (sorted.has(object)) return;
    if (path.includes(object.name))
      throw new Error(`declared objects depend on each other: ${[...path, object.name].join(' → ')}`);
    for (const name of dependenciesOf(object)) {
      const dependency = byName.get(name);
      if (dependency) visit(dependency, [...path, object.name]);
    }
    sorted.add(object);
  };
  for (const object of objects) visit(object, []);
  return [...sorted];
}

/** Returns the name of an object with its schema, as in a FROM clause. */
export const qualifiedName = ({ name, schema = 'reporting' }: Pick<Declared, 'name' | 'schema'>): string =>
  `${schema}.${name}`;

/** Returns whether an object is for users, not a helper. */
export const isPublic = ({ schema }: Pick<Declared, 'schema'>): boolean => schema !== 'reporting_internal';

/**
 * Returns the name of an object with its schema; for a function with the types of its parameters, as
 * PostgreSQL identifies it.
 */
export function signature(object: Declared): string {
  if (object.kind === 'view') return qualifiedName(object);
  return `${qualifiedName(object)}(${object.parameters.map(({ type }) => type).join(', ')})`;
}

/**
 * Returns the statements that create or replace an object, and that set the comments on it and its columns.
 */
export function definition(object: Declared): string {
  const { kind, comment, columns } = object;
  const name = qualifiedName(object);
  if (kind === 'view')
    return [
      `create or replace view ${name} as\n${object.body}`,
      `comment on view ${name} is ${literal(comment)}`,
      ...columns.map((column) => `comment on column ${name}.${column.name} is ${literal(column.comment)}`),
    ].join(';\n');
  const parameters = object.parameters.map(
    ({ name, type, preset }) => `"${name}" ${type}${preset === undefined ? '' : ` default ${preset}`}`,
  );
  return [
    `create or replace function ${name}(${parameters.join(', ')}) returns ${resultOf(object)}
language ${object.language ?? 'sql'} stable parallel safe as ${literal(`\n${object.body}\n`)}`,
    `comment on function ${signature(object)} is ${literal(comment)}`,
  ].join(';\n');
}

function resultOf({ value, rowsOf, columns }: DeclaredFunction): string {
  if (value !== undefined) return value;
  if (rowsOf !== undefined) return `setof ${qualifiedName(rowsOf)}`;
  return `table (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`;
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
