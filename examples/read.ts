// Queries the record in TypeScript: `reporting` as typed Drizzle views and functions.
import { freshness, nodeUptime, runs, subnets, validators, validatorsAsOf } from 'chain-recorder/schema';
import { and, count, desc, eq, isNotNull, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';

const db = drizzle(process.env.DATABASE_URL ?? '');

/** The validators with the most stake in nAVAX, whichever node reports them: amounts are exact texts, times are dates. */
const largest = await db
  .selectDistinct({ nodeId: validators.nodeId, stake: validators.stakeNavax, since: validators.startTime })
  .from(validators)
  .where(isNotNull(validators.stakeNavax))
  .orderBy(desc(validators.stakeNavax), validators.nodeId)
  .limit(3);

/** The number of validators of each subnet, of the known subnets. */
const bySubnet = await db
  .select({ subnetId: subnets.subnetId, isL1: subnets.isL1, validators: count(validators.nodeId) })
  .from(subnets)
  .leftJoin(validators, eq(validators.subnetId, subnets.subnetId))
  .groupBy(subnets.subnetId, subnets.isL1)
  .orderBy(subnets.subnetId);

/** The state of the recording, with the last run of each dataset and target. */
const standing = await db
  .select({
    dataset: freshness.dataset,
    target: freshness.target,
    lateBy: freshness.lateBy,
    last: sql<number>`max(${runs.runId})`.mapWith(Number),
  })
  .from(freshness)
  .innerJoin(runs, and(eq(runs.dataset, freshness.dataset), eq(runs.target, freshness.target)))
  .groupBy(freshness.dataset, freshness.target, freshness.lateBy)
  .orderBy(freshness.dataset, freshness.target);

/** The validators as the record knew them at a moment, and the uptime of the nodes in the hour before. */
const moment = new Date();
const hourAgo = new Date(moment.getTime() - 3_600_000);
const known = await db.select().from(validatorsAsOf({ at: moment }));
const uptime = await db.select().from(nodeUptime({ from: hourAgo, to: moment }));

console.log(JSON.stringify({ largest, bySubnet, standing, known: known.length, uptime: uptime.length }));
await db.$client.end();
