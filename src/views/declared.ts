import { readdirSync, readFileSync } from 'node:fs';
import { catalog } from '../datasets/catalog.ts';
import type { Declared } from '../db/declared.ts';
import { datasetViews } from './dataset-views.ts';
import { readSqlFile } from './sql-file.ts';

const FOLDER = new URL('sql/', import.meta.url);

/**
 * All objects of `reporting`: those that follow from the catalog, and one object for each file in `sql/`.
 * @throws Error when a file in `sql/` does not have the form that {@link readSqlFile} reads
 */
export function declaredObjects(): Declared[] {
  return [...catalog.flatMap(datasetViews), ...writtenObjects()];
}

/**
 * What of `reporting` is written in `sql/`, by name.
 * @throws Error when a file of `sql/` has not the form that is read
 */
export function writtenObjects(): Declared[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
  return files.sort().map((file) => readSqlFile(file, readFileSync(new URL(file, FOLDER), 'utf8')));
}
