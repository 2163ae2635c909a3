import { createRequire } from 'node:module';

/**
 * The used parts of BullMQ. BullMQ is a CommonJS package of 170 files. `import` parses all of them for their
 * exports before it runs them, which doubles the load time. `require` does not.
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
