import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { ormOf } from './orm.ts';
import { targets } from './schema/bookkeeping.ts';

/**
 * Time without a heartbeat after which a run loses its target to the next run, in s. The time counts from
 * `clock_timestamp()`, not from `now()`, the start of the transaction. A statement may wait for longer than a
 * lease, such as for a migration, and would then store a lease that has already expired.
 */
export const LEASE_SECONDS = 6;

/** SQL expression: the end of a lease that is renewed now. */
export const leaseEnd = expression`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

/**
 * Renews every lease that was valid when this transaction started. A change of tables blocks all other
 * statements, including those that renew leases. Without this renewal, a live run could lose its target to
 * the run whose statement is executed first. Targets whose row another statement has locked are skipped.
 */
export async function renewLeases(sql: postgres.Sql): Promise<void> {
  await ormOf(sql).execute(expression`
    update ${targets} t set lease_until = ${leaseEnd}
    from (select source, target_key from ${targets} where lease_until >= now() for update skip locked) live
    where t.source = live.source and t.target_key = live.target_key`);
}
