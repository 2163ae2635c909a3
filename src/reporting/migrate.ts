import { catalog } from '../datasets/catalog.ts';
import { migrateDatabase } from '../db/migrate.ts';
import { bookkeepingViews } from './bookkeeping-views.ts';
import { datasetViews } from './dataset-views.ts';
import { metricViews } from './metric-views.ts';

/** Brings a database to this version: tables, then everything in `reporting`. Safe to run by many at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  await migrateDatabase(databaseUrl, [...catalog.flatMap(datasetViews), ...metricViews, ...bookkeepingViews]);
}
