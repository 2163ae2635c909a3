import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { ormOf } from './orm.ts';
import { targets } from './schema/bookkeeping.ts';

/**
 * A run without a sign of life for so long, in seconds, loses its target to the next run. It counts from `clock_timestamp()`: a statement may
 * wait for longer, as for a migration, and by `now()`, which tells when it was sent, a run that lives would have lost its lease as it gets it.
 */
export const LEASE_SECONDS = 6;

/** The end of a lease that is renewed now. */
export const leaseEnd = expression`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

/**
 * Gives every run that held its target's lease when this transaction began a lease of full length. A change of tables holds up the
 * statements of all others, also those that keep leases: without this a run that lives could lose its target to whoever is served first.
 * A target that another statement has in hand is left to it.
 */
export async function renewLeases(sql: postgres.Sql): Promise<void> {
  await ormOf(sql).execute(expression`
    update ${targets} t set lease_until = ${leaseEnd}
    from (select source, target_key from ${targets} where lease_until >= now() for update skip locked) held
    where t.source = held.source and t.target_key = held.target_key`);
}
