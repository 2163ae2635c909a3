import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/client.ts';
import { refusePoolerAt } from '../../src/db/detect-pooler.ts';
import { checkDatabase } from '../../src/db/examine-database.ts';
import { Replica } from '../../src/db/replica.ts';
import { waitUntilReachable } from '../../src/db/wait-until-reachable.ts';
import { startCommand } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { hasPgBouncer, noPgBouncer, type Pooler, startPgBouncer } from '../support/pgbouncer.ts';

/** Every session setting of the recorder, ignored silently. */
const DROPS =
  'ignore_startup_parameters = extra_float_digits,application_name,IntervalStyle,bytea_output,array_nulls,transform_null_equals,search_path,' +
  'default_transaction_isolation,default_transaction_read_only,default_transaction_deferrable,row_security,jit,statement_timeout,lock_timeout,' +
  'idle_in_transaction_session_timeout,idle_session_timeout,options,role,client_connection_check_interval,max_parallel_workers_per_gather';
const REASON = /it is a pooler, such as PgBouncer\. .*: connect to PostgreSQL directly in DATABASE_URL/;
const never = new AbortController().signal;

describe.skipIf(!hasPgBouncer).each([
  ['in transaction mode', ['pool_mode = transaction']],
  ['in transaction mode, configured to drop settings', ['pool_mode = transaction', DROPS]],
  ['in session mode, configured to drop settings', ['pool_mode = session', DROPS]],
])(`PgBouncer %s${noPgBouncer}`, (name, settings) => {
  let database: TestDatabase;
  let pooler: Pooler;
  beforeAll(async () => {
    database = await testDatabase();
    pooler = await startPgBouncer(database.url, settings);
  });
  afterAll(async () => {
    await pooler.stop();
    await database.close();
  });

  it('is refused at the start with the reason and the fix, instead of a hang', async () => {
    await expect(waitUntilReachable(pooler.url, never, () => {})).rejects.toThrow(REASON);
    await expect(refusePoolerAt(pooler.url, 'DATABASE_URL')).rejects.toThrow(REASON);
  });

  it.runIf(name === 'in transaction mode')(
    'is refused by every command, for each variable that names it',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'recorder-pooler-'));
      const run = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
        const { code, stderr } = await startCommand(args, { LOG_LEVEL: 'error', ...env }, dir).ended;
        return [code, stderr];
      };
      const own = { DATABASE_URL: pooler.url };
      const refused = [2, expect.stringMatching(REASON)];
      expect(await run(['up'], own)).toEqual(refused);
      expect(await run(['query', 'select 1'], own)).toEqual(refused);
      const both = { DATABASE_URL: database.url, REPORTING_DATABASE_URL: pooler.url };
      expect(await run(['query', 'select 1'], both)).toEqual([
        2,
        expect.stringMatching(/REPORTING_DATABASE_URL: the server does .*pooler/),
      ]);
      await rm(dir, { recursive: true });
    },
  );

  it('is reported by doctor', async () => {
    expect(await checkDatabase(pooler.url)).toMatchObject({
      ok: false,
      found: expect.stringContaining('it is a pooler'),
      fix: 'connect to PostgreSQL directly in DATABASE_URL',
    });
  });

  it('is refused as a replica', async () => {
    const primary = openDatabase(database.url);
    const replica = new Replica(pooler.url);
    expect(await replica.check(primary.reader)).toMatchObject({
      strange: true,
      error: expect.stringContaining('it is a pooler'),
    });
    await replica.close();
    await primary.close();
  });
});

it('is not detected on PostgreSQL itself', async () => {
  const database = await testDatabase();
  await refusePoolerAt(database.url, 'DATABASE_URL');
  await database.close();
});
