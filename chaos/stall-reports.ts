import { until } from './until.ts';
import type { World } from './world.ts';

/** Invariant K requires it within three intervals, or a minute if that is longer. */
const MIN_DEADLINE_MS = 60_000;
/**
 * A check takes time, too: a command starts, the server caches its response for a second, the log is written every 15
 * s.
 */
const CHECK_DURATION_MS = 20_000;

/**
 * Checks all places that must report a stall, and stores the times.
 * @param what description
 * @param server the address of a running server
 * @param since start of the stall, ms since 1970 @param every its interval, ms
 */
export async function expectStallReports(
  world: World,
  what: string,
  server: string,
  since: number,
  every: number,
): Promise<void> {
  const deadline = since + Math.max(3 * every, MIN_DEADLINE_MS) + CHECK_DURATION_MS;
  const recordDelay = async (where: string, check: () => Promise<boolean>) => {
    const found = await until(
      where,
      () => check().catch(() => false),
      Math.max(0, deadline - Date.now()),
    ).catch(() => null);
    world.evidence.stallReports.push({ what, where, delayMs: found === null ? null : Date.now() - since });
  };
  const exits = (command: string) => async () => {
    const recorder = world.recorder([command, '--json']);
    const { code } = await recorder.ended;
    return code === 1 && recorder.stdout.includes('since');
  };
  await Promise.all([
    recordDelay('reporting.freshness', async () => {
      const rows = await world.sql`select 1 from reporting.freshness where late_by > 2 * expected_every`;
      return rows.length > 0;
    }),
    recordDelay('status', exits('status')),
    recordDelay('doctor', exits('doctor')),
    recordDelay('a metric', async () => {
      const metrics = await (await fetch(`${server}/metrics`)).text();
      return /^chain_recorder_late_targets [1-9]/m.test(metrics);
    }),
    recordDelay('the log', async () => world.recorders.some((recorder) => recorder.count(' since ') > 0)),
  ]);
}
