import { ALERTS, HEALS, POLLS } from '../src/jobs/jobs.ts';
import { openBackend } from '../src/jobs/open-backend.ts';
import { openLog } from '../src/telemetry/log.ts';
import { eventually } from './until.ts';
import type { World } from './world.ts';

/** Maximum time without schedules: one round of the reconciler. */
const SCHEDULES_TIMEOUT_MS = 30_000;

/**
 * Schedules of a recorder of proposed blocks: the plans of its one source, and the rounds of the rules, which every
 * recorder has.
 */
const EXPECTED_SCHEDULES = [ALERTS, 'plan proposed-blocks'];

/** Whether the schedules are exactly those of a recorder of proposed blocks. */
export const matchesExpectedSchedules = (schedules: readonly string[]): boolean =>
  [...schedules].sort().join() === EXPECTED_SCHEDULES.join();

/** The content of a world's queue. */
export async function queueOf(world: World): Promise<{ schedules: string[]; waiting: number }> {
  const redisUrl = world.backend === 'redis' ? world.redis.url : undefined;
  const urls = { redisUrl, databaseUrl: world.databaseUrl };
  const backend = await openBackend(
    urls,
    openLog({ logLevel: 'silent', logJson: true }),
    AbortSignal.timeout(SCHEDULES_TIMEOUT_MS),
  );
  const queues = [await backend.queue(POLLS), await backend.queue(HEALS)] as const;
  try {
    const schedules = await queues[0].getJobSchedulers();
    const counts = await Promise.all(queues.map((queue) => queue.getJobCounts()));
    const waiting = counts.flatMap((count) => Object.values(count)).reduce((sum, jobs) => sum + jobs, 0);
    return { schedules: schedules.map(({ key }) => key), waiting };
  } finally {
    await Promise.all(queues.map((queue) => queue.close().catch(() => {})));
    await backend.close();
  }
}

/** Measures the time until the queue has exactly the configured schedules. */
export async function measureScheduleRecovery(world: World): Promise<number> {
  const startedAt = performance.now();
  await eventually(
    'the schedules to be back',
    async () => matchesExpectedSchedules((await queueOf(world)).schedules),
    SCHEDULES_TIMEOUT_MS * 2,
  );
  const elapsedMs = Math.round(performance.now() - startedAt);
  world.evidence.bound('ms until the schedules were back', elapsedMs, SCHEDULES_TIMEOUT_MS + 2_000);
  return elapsedMs;
}

/** Loses the content of the queue: FLUSHALL, or its tables truncated. */
export async function clearQueue(world: World): Promise<void> {
  if (world.backend === 'redis') {
    await world.redis.command('FLUSHALL');
    return;
  }
  const rows = await world.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname = 'bullmq' and tablename not like '%migration%' and tablename not like '%version%'`;
  await world.sql.unsafe(`truncate ${rows.map(({ name }) => name).join(', ')}`);
}
