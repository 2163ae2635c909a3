import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';
import { bookkeeping, histories, looks, readings } from './first-rows.ts';

/** What the first version recorded from the sandbox, with its tables, views and functions. */
const DUMP = join(import.meta.dirname, '../../test/db/recorded/0.1.0.sql.gz');

/** Datasets of which the dump has one address in two spellings, which the migration makes one, and the column of the address. */
const SPELT_TWICE = {
  native_transactions: 'address',
  erc1155_transfers: 'address',
  native_balances: 'address',
  native_balance_values: 'address',
  erc1155_balances: 'address',
  deployed_contracts: 'deployer',
} as const;

/** A record of the first version. */
export interface FirstVersion {
  /** Rows of all its tables. */
  readonly rows: number;
  readonly bytes: number;
  /** Until when it was recorded, ms since 1970. */
  readonly until: number;
  /** Its last run. */
  readonly lastRun: number;
}

/**
 * Makes an empty database one that the first version recorded: its dump, and rows by SQL in the same tables, of the thirty days until now.
 * @param members the nodes that the sandbox goes on showing @param rows how many there are to be, about
 */
export async function recordFirstVersion(
  url: string,
  members: readonly string[],
  rows: number,
  tell: (line: string) => void,
): Promise<FirstVersion> {
  const dump = gunzipSync(await readFile(DUMP)).toString();
  const restoring = postgres(url, { max: 1, onnotice: () => {} });
  await restoring.unsafe(dump);
  await restoring.end();
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
  try {
    for (const [table, address] of Object.entries(SPELT_TWICE))
      await sql`delete from recorder.${sql(table)} where ${sql(address)} <> lower(${sql(address)})`;
    // It is announced for a time in which nobody recorded, and becomes part of the ledger once somebody does.
    await sql`delete from recorder.health_maintenance`;
    const until = Math.floor(Date.now() / 1000) * 1000;
    const [last] = await sql<{ run: number }[]>`select max(run_id)::int as run from recorder.runs`;
    const size = { rows, until: new Date(until), lastRun: last?.run ?? 0 };
    await sql.unsafe(looks(size, members));
    for (const { what, text } of [...readings(size), ...histories(size), ...bookkeeping(size)]) {
      const began = performance.now();
      const { count } = await sql.unsafe(text);
      tell(`${what}: ${count} rows in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    }
    await sql`select setval('recorder.runs_run_id_seq', (select max(run_id) from recorder.runs))`;
    await sql`vacuum (analyze)`;
    const [made] = await sql<{ rows: number; bytes: number; run: number }[]>`
      select (select sum(n_live_tup) from pg_stat_user_tables where schemaname = 'recorder')::float8 as rows,
        pg_database_size(current_database())::float8 as bytes, (select max(run_id) from recorder.runs)::int as run`;
    if (!made) throw new Error('nothing was counted');
    return { rows: made.rows, bytes: made.bytes, until, lastRun: made.run };
  } finally {
    await sql.end();
  }
}
