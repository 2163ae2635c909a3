import { readdirSync, readFileSync } from 'node:fs';
import { catalog } from '../../datasets/catalog.ts';
import type { Declared } from '../../db/declared.ts';
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
