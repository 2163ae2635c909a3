import { until } from './until.ts';
import type { World } from './world.ts';

/** Invariant K requires it within three intervals, or a minute if that is longer. */
const LEAST = 60_000;
/**
 * A check takes time, too: a command starts, the server caches its response for a second, the log is written every 15
 * s.
 */
const LOOKING = 20_000;

/**
 * Checks all places that must report a stall, and stores the times.
 * @param what description
 * @param server the address of a running server
 * @param since start of the stall, ms since 1970 @param every its interval, ms
 */
export async function isTold(
  world: World,
  what: string,
  server: string,
  since: number,
  every: number,
): Promise<void> {
  const deadline = since + Math.max(3 * every, LEAST) + LOOKING;
  const noted = async (where: string, look: () => Promise<boolean>) => {
    const found = await until(
      where,
      () => look().catch(() => false),
      Math.max(0, deadline - Date.now()),
    ).catch(() => null);
    world.evidence.told.push({ what, where, after: found === null ? null : Date.now() - since });
  };
  const exits = (command: string) => async () => {
    const ran = world.recorder([command, '--json']);
    const { code } = await ran.ended;
    return code === 1 && ran.stdout.includes('since');
  };
  await Promise.all([
    noted('reporting.freshness', async () => {
      const rows = await world.sql`select 1 from reporting.freshness where late_by > 2 * expected_every`;
      return rows.length > 0;
    }),
    noted('status', exits('status')),
    noted('doctor', exits('doctor')),
    noted('a metric', async () => {
      const metrics = await (await fetch(`${server}/metrics`)).text();
      return /^chain_recorder_late_targets [1-9]/m.test(metrics);
    }),
    noted('the log', async () => world.recorders.some((recorder) => recorder.count(' since ') > 0)),
  ]);
}
