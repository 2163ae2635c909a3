import { readdirSync, readFileSync } from 'node:fs';
import { catalog } from '../../datasets/catalog.ts';
import { type Declared, qualifiedName } from '../../db/declared.ts';
import { packageFile } from '../../lib/package-file.ts';
import { changeCommits, changeRows } from './change-views.ts';
import { datasetViews } from './dataset-views.ts';
import { networkDisagreements } from './network-disagreements.ts';
import { readSqlFile } from './sql-file.ts';

const FOLDER = packageFile('src/reporting/views/sql/');

let declared: readonly Declared[] | undefined;

/**
 * Returns all objects of `reporting`: those derived from the catalog, and one object for each file in `sql/`.
 * They are read once.
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
 * Returns the objects of `reporting` that belong to no dataset, by name: those in `sql/`, and those over all
 * datasets.
 * @throws Error if a file in `sql/` does not have the form that {@link readSqlFile} parses
 */
export function listSharedObjects(): Declared[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
  const written = files.map((file) => readSqlFile(file, readFileSync(new URL(file, FOLDER), 'utf8')));
  return [...written, networkDisagreements(catalog), changeCommits, changeRows(catalog)].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}
