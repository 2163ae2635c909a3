import { catalog } from '../datasets/catalog.ts';
import { migrateDatabase } from '../db/migrate.ts';
import { bookkeepingViews } from './bookkeeping-views.ts';
import { datasetViews } from './dataset-views.ts';
import { findingViews } from './finding-views.ts';
import { healthViews } from './health-views.ts';
import { incidentViews } from './incident-views.ts';
import { latencyViews } from './latency-views.ts';
import { metricViews } from './metric-views.ts';
import { uptimeViews } from './uptime-views.ts';

/** Brings a database to this version: tables, then everything in `reporting`. Safe to run by many at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  await migrateDatabase(databaseUrl, [
    ...catalog.flatMap(datasetViews),
    ...metricViews,
    ...healthViews,
    ...uptimeViews,
    ...incidentViews,
    ...latencyViews,
    ...bookkeepingViews,
    ...findingViews,
  ]);
}
