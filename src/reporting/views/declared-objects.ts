import { readdirSync, readFileSync } from 'node:fs';
import { catalog } from '../../datasets/catalog.ts';
import {
  type Declared,
  type DeclaredColumn,
  type DeclaredParameter,
  qualifiedName,
} from '../../db/declared.ts';
import { packageFile } from '../../lib/package-file.ts';
import { changeCommits, changeRows } from './change-views.ts';
import { datasetViews } from './dataset-views.ts';
import { nodeDisagreements } from './disagreements.ts';
import { metadataViews } from './metadata-views.ts';

const VIEW =
  /^(?:--.*\n)*create or replace view reporting(?<internal>_internal)?\.(?<name>\w+) as\n(?<body>[\s\S]+?);\n\n(?<comments>comment on view [\s\S]+)$/;
const FUNCTION =
  /^(?:--.*\n)*create or replace function reporting(?<internal>_internal)?\.(?<name>\w+)\(\n(?<parameters>[\s\S]+?)\n\)\nreturns (?:table \(\n(?<returned>[\s\S]+?)\n\)|(?<value>\w+))\nlanguage (?<language>sql|plpgsql) stable parallel safe as \$\$\n(?<body>[\s\S]+?)\n\$\$;\n\n(?<comments>comment on function [\s\S]+)$/;
const COMMENT =
  /^comment on (?:view|function) reporting(?:_internal)?\.(?<name>\w+) is '(?<text>(?:[^']|'')+)';$/;
const COLUMN =
  /^comment on column reporting(?:_internal)?\.(?<object>\w+)\.(?<name>\w+) is '(?<text>(?:[^']|'')+)'; -- (?<type>.+)$/;
const RETURNED = /^ {2}(?<name>\w+) (?<type>[\w[\] ]+?),? -- (?<text>.+)$/;
const PARAMETER =
  /^ {2}"?(?<name>\w+)"? (?<type>[\w[\]]+?)(?: default (?<preset>[\w()']+?))?,? -- (?<text>.+)$/;

/**
 * Parses the declaration of one object in an SQL file. psql can run the same file. The form of the file is:
 * - for a view: `create or replace view reporting.NAME as` (or `reporting_internal.NAME`), the query, the
 *   comment of the view, and a line `comment on column reporting.NAME.COLUMN is '…'; -- TYPE` for each
 *   column;
 * - for a function: `create or replace function reporting.NAME(`, a line `PARAMETER TYPE default VALUE, --
 *   COMMENT` for each parameter, `returns table (` with a line `COLUMN TYPE, -- COMMENT` for each column (or
 *   `returns TYPE` for a single value), `language sql stable parallel safe as $$`, the query, `$$;` and the
 *   comment of the function.
 * @param file the name of the file, for errors
 * @param text the content of the file
 * @throws Error if the text has another form
 */
export function readSqlFile(file: string, text: string): Declared {
  const refuse = (what: string) => new Error(`${file}: ${what}; see readSqlFile for the form`);
  const view = VIEW.exec(text)?.groups;
  const groups = view ?? FUNCTION.exec(text)?.groups;
  if (!groups) throw refuse('expected a view or a function');
  const { name = '', body = '', comments = '', parameters = '', returned, value, language } = groups;
  const [first = '', ...others] = comments.trimEnd().split('\n');
  const comment = COMMENT.exec(first)?.groups;
  if (comment?.name !== name) throw refuse(`expected the comment of ${name} instead of: ${first}`);
  const column = (pattern: RegExp, line: string): DeclaredColumn => {
    const found = pattern.exec(line)?.groups;
    if (!found || (found.object ?? name) !== name)
      throw refuse(`expected a column of ${name} instead of: ${line}`);
    return { name: found.name ?? '', type: found.type ?? '', comment: unquoted(found.text ?? '') };
  };
  const base = {
    name,
    ...(groups.internal === undefined ? {} : { schema: 'reporting_internal' as const }),
    comment: unquoted(comment.text ?? ''),
    body,
  };
  if (view) return { ...base, kind: 'view', columns: others.map((line) => column(COLUMN, line)) };
  if (others.length > 0)
    throw refuse(`expected nothing after the comment of ${name} instead of: ${others[0]}`);
  const declaredParameters = parameters.split('\n').map((line): DeclaredParameter => {
    const found = PARAMETER.exec(line)?.groups;
    if (!found) throw refuse(`expected a parameter of ${name} instead of: ${line}`);
    const { preset } = found;
    return {
      name: found.name ?? '',
      type: found.type ?? '',
      comment: found.text ?? '',
      ...(preset === undefined ? {} : { preset }),
    };
  });
  const columns = returned?.split('\n').map((line) => column(RETURNED, line)) ?? [];
  return {
    ...base,
    kind: 'function',
    parameters: declaredParameters,
    columns,
    ...(value === undefined ? {} : { value }),
    ...(language === 'plpgsql' ? { language } : {}),
  };
}

const unquoted = (text: string) => text.replaceAll("''", "'");

const FOLDER = packageFile('src/reporting/views/sql/');

let declared: readonly Declared[] | undefined;

/**
 * Returns all objects of `reporting`: those derived from the catalog, and one object for each file in `sql/`.
 * The files are read once.
 * @throws Error if a file in `sql/` does not have the form that {@link readSqlFile} parses
 */
export function declaredObjects(): readonly Declared[] {
  declared ??= [...catalog.flatMap(datasetViews), ...listSharedObjects()];
  return declared;
}

let qualified: ReadonlyMap<string, string> | undefined;

/**
 * Returns the name of a declared object with its schema, as in a FROM clause.
 * @throws Error if no object of this name is declared
 */
export function relationSql(name: string): string {
  qualified ??= new Map(declaredObjects().map((object) => [object.name, qualifiedName(object)]));
  const found = qualified.get(name);
  if (found === undefined) throw new Error(`reporting.${name} is not declared`);
  return found;
}

/**
 * Returns the objects of `reporting` that belong to no dataset, sorted by name: the objects in `sql/`, and
 * the objects with rows of all datasets.
 * @throws Error if a file in `sql/` does not have the form that {@link readSqlFile} parses
 */
export function listSharedObjects(): Declared[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
  const written = files.map((file) => readSqlFile(file, readFileSync(new URL(file, FOLDER), 'utf8')));
  const shared = [...written, nodeDisagreements(catalog), changeCommits, changeRows(catalog)];
  return [...shared, ...metadataViews([...catalog.flatMap(datasetViews), ...shared])].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}
