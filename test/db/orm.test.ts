import { eq, sql as expression } from 'drizzle-orm';
import { expect } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { ormOf, tableText } from '../../src/db/orm.ts';
import { runs, targets } from '../../src/db/schema/bookkeeping.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();

it('reads and writes by the schema, and leaves the client unchanged', async () => {
  const sql = connect(database.url, 10_000, { max: 1, onnotice: () => {} });
  const orm = ormOf(sql);
  const lease_until = new Date('2026-01-10T00:00:00.123Z');
  await sql`insert into recorder.targets (source, target_key, target) values ('s', 'k', '{"node":"n"}')`;
  expect(
    await orm
      .update(targets)
      .set({ lease_until, run_id: 2 ** 52 })
      .where(eq(targets.source, 's'))
      .returning({ target: targets.target, run_id: targets.run_id, lease_until: targets.lease_until }),
  ).toEqual([{ target: { node: 'n' }, run_id: 2 ** 52, lease_until }]);
  // Drizzle's own client would return times as texts for all users of the connection.
  expect(await sql`select lease_until from recorder.targets`).toEqual([{ lease_until }]);
  expect(await orm.execute(expression`select target_key from ${targets} where source = ${'s'}`)).toEqual([
    { target_key: 'k' },
  ]);
  await sql.end();
});

it('throws the errors of the driver, without the statement and its parameters', async () => {
  const sql = connect(database.url, 10_000, { max: 1, onnotice: () => {} });
  const refused = ormOf(sql)
    .insert(runs)
    .values({
      source: 'canary',
      target_key: 'k',
      datasets: [],
      reason: 'r',
      status: 's',
      worker: 'w',
      started_at: new Date(Number.MIN_SAFE_INTEGER / 2),
      items: [],
      rows_written: [],
      pages: 2 ** 40,
    });
  const error: unknown = await refused.catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: expect.stringMatching(/^22/) });
  expect(String(error)).not.toContain('canary');
  await sql.end();
});

it('quotes the names of tables', () => {
  expect(tableText(targets)).toBe('"recorder"."targets"');
});
