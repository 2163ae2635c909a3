/** A column of a declared object. */
export interface DeclaredColumn {
  readonly name: string;
  /** PostgreSQL's type, such as `timestamptz`. */
  readonly type: string;
  /** Its description. Stored as the COMMENT of a view's column. */
  readonly comment: string;
  /** It is never null. Default: false. */
  readonly notNull?: boolean;
}

/** Declares a column that may be null. */
export const declaredColumn = (name: string, type: string, comment: string): DeclaredColumn => ({
  name,
  type,
  comment,
});

interface DeclaredBase {
  /** Its name in the schema `reporting`. */
  readonly name: string;
  /** Description of a row. Stored as its COMMENT. */
  readonly comment: string;
  /** In order. For a function: the columns of the rows that it returns. */
  readonly columns: readonly DeclaredColumn[];
  /** The query, in SQL. */
  readonly body: string;
}

export interface DeclaredView extends DeclaredBase {
  readonly kind: 'view';
}

/** A parameter of a declared function. */
export interface DeclaredParameter extends DeclaredColumn {
  /** The default value, in SQL. Without it the parameter is required. */
  readonly preset?: string;
}

/** A function that returns rows or one value. */
export interface DeclaredFunction extends DeclaredBase {
  readonly kind: 'function';
  readonly parameters: readonly DeclaredParameter[];
  /** The type of the single value that it returns. Without it, the function returns rows. */
  readonly value?: string;
  /** Default: SQL. */
  readonly language?: 'plpgsql';
  /** The view whose row type it returns. Without it, the rows have the function's own columns. */
  readonly rowsOf?: string;
}

/** An object of the schema `reporting`, created from its declaration instead of by a migration. */
export type Declared = DeclaredView | DeclaredFunction;

/**
 * Returns the names of the declared objects that an object reads from, and of the view whose row type a
 * function returns.
 */
export function dependenciesOf(object: Declared): string[] {
  const text = object.body.replaceAll(/--.*$/gm, '');
  const names = [...text.matchAll(/\breporting\.(\w+)/g)].map(([, name]) => name ?? '');
  const rowsOf = object.kind === 'function' && object.rowsOf !== undefined ? [object.rowsOf] : [];
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

/**
 * Returns the name of an object in `reporting`; for a function with the types of its parameters, as
 * PostgreSQL identifies it.
 */
export function signature(object: Declared): string {
  if (object.kind === 'view') return object.name;
  return `${object.name}(${object.parameters.map(({ type }) => type).join(', ')})`;
}

/**
 * Returns the statements that create or replace an object, and that set the comments on it and its columns.
 */
export function definition(object: Declared): string {
  const { name, kind, comment, columns } = object;
  if (kind === 'view')
    return [
      `create or replace view reporting.${name} as\n${object.body}`,
      `comment on view reporting.${name} is ${literal(comment)}`,
      ...columns.map(
        (column) => `comment on column reporting.${name}.${column.name} is ${literal(column.comment)}`,
      ),
    ].join(';\n');
  const parameters = object.parameters.map(
    ({ name, type, preset }) => `"${name}" ${type}${preset === undefined ? '' : ` default ${preset}`}`,
  );
  return [
    `create or replace function reporting.${name}(${parameters.join(', ')}) returns ${resultOf(object)}
language ${object.language ?? 'sql'} stable parallel safe as ${literal(`\n${object.body}\n`)}`,
    `comment on function reporting.${signature(object)} is ${literal(comment)}`,
  ].join(';\n');
}

function resultOf({ value, rowsOf, columns }: DeclaredFunction): string {
  if (value !== undefined) return value;
  if (rowsOf !== undefined) return `setof reporting.${rowsOf}`;
  return `table (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`;
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
