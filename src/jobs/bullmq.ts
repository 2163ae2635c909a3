import { createRequire } from 'node:module';

/**
 * The BullMQ module, loaded with `require`. BullMQ is a CommonJS package of 170 files. `import` would parse
 * all of these files for their exports before their execution, which doubles the load time.
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
