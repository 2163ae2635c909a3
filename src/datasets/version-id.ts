/** The rows that have versions. */
interface VersionedRows {
  /** Name of the dataset. */
  readonly name: string;
  /** Columns of the natural key. */
  readonly key: readonly string[];
  readonly columns: readonly IdentifyingColumn[];
}

/** A column of the input of a version id: a column of the key, or the start of the version. */
interface IdentifyingColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

/** Returns SQL of the text of a value, by type. */
type TextSql = Readonly<Record<string, (value: string) => string>>;

/**
 * SQL of texts in PostgreSQL, the same for all settings of a session. Each text is preceded by its length, so
 * that two keys never have the same text.
 */
const POSTGRES: TextSql = {
  text: (value) => `length(${value}) || ':' || ${value}`,
  timestamptz: (value) => `trim_scale(extract(epoch from ${value}) * 1000000) || ','`,
  numeric: (value) => `trim_scale(${value}) || ','`,
  bigint: (value) => `${value} || ','`,
};

/**
 * Returns SQL of the surrogate key of a version: a hash of the dataset, its natural key and the start of the
 * version. Every database that recorded the version has the same key.
 * @param start the column with the start of the version
 * @param columnSql returns SQL of a column
 * @param texts SQL of texts in the database that computes the key. Default: PostgreSQL
 * @throws Error if a column has a type that cannot identify a version
 */
export function versionIdSql(
  { name, key, columns }: VersionedRows,
  start: string,
  columnSql: (column: string) => string,
  texts = POSTGRES,
): string {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const identifying: IdentifyingColumn[] = [
    ...key.map((column) => ({ name: column, type: 'text', nullable: false, ...byName.get(column) })),
    { name: start, type: 'timestamptz', nullable: false },
  ];
  const parts = identifying.map((column) => {
    const value = columnSql(column.name);
    const text = texts[column.type]?.(column.nullable ? `coalesce(${value}, '')` : value);
    if (text === undefined)
      throw new Error(`${name}.${column.name}: the type ${column.type} cannot identify a version`);
    return text;
  });
  return `md5(${[`'${name} '`, ...parts].join(' || ')})::uuid`;
}
