import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildRecorder } from '../../chaos/build.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { startServices } from './services.ts';
import { buildTemplates } from './template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL for this test run; take a database of it by `testDatabase()`. */
    databaseUrl: string;
    /** A Redis for this test run, or null. */
    redisUrl: string | null;
    /** Reason why there is no Redis, for skipped tests. */
    redisSkipReason: string | null;
    /** The command line's file, compiled from the sources for this test run. */
    cli: string;
  }
}

const noRedis = 'no Redis: no Docker engine answers and no redis-server is on PATH';

/** Starts the servers of the run and builds the template database; returns what stops them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { means, postgres, redis } = await startServices();
  const built = await mkdtemp(join(tmpdir(), 'recorder-test-'));
  const tearDown = async () => {
    await Promise.all([postgres.stop(), redis?.stop(), rm(built, { recursive: true })]);
  };
  try {
    if (!redis && process.env.CI) throw new Error(noRedis);
    const [cli] = await Promise.all([
      buildRecorder(built),
      buildTemplates(postgres.url, (url) => migrateDatabase(url, []), migrate),
    ]);
    project.provide('cli', cli);
  } catch (error) {
    await tearDown();
    throw error;
  }
  console.info(`Test services: ${means}.`);
  if (!redis) console.warn(`Skipping the tests that need Redis: ${noRedis}.`);
  project.provide('databaseUrl', postgres.url);
  project.provide('redisUrl', redis?.url ?? null);
  project.provide('redisSkipReason', redis ? null : noRedis);
  return tearDown;
}
