import { createRequire } from 'node:module';

/**
 * What is used of BullMQ. It is a CommonJS package of 170 files: `import` reads all of them for the names that they export before it runs
 * them, which takes as long as everything else about it, and `require` does not.
 */
const bullmq: typeof import('bullmq') = createRequire(import.meta.url)('bullmq');

export const {
  createPostgresBackend,
  DEFAULT_SCHEMA,
  DelayedError,
  isPgPool,
  Queue,
  runMigrations,
  UnrecoverableError,
  withBackend,
  Worker,
} = bullmq;
