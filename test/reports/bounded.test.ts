import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { forecast } from '../../src/reports/forecast.ts';
import { statusOf } from '../../src/reports/status.ts';
import { Watchdog } from '../../src/reports/watchdog.ts';
import { recordingMetrics } from '../../src/server/prometheus.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { scriptedFeed } from '../support/recording.ts';

let database: TestDatabase;
let sql: postgres.Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 5, onnotice: () => {}, connection: { statement_timeout: 5_000 } });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

it('how the recording stands is told without a look at runs, however many there are', async () => {
  const feed = scriptedFeed(subnets, { network: 'mainnet' });
  await sql.begin(async (holding) => {
    await holding`lock table recorder.runs in access exclusive mode`;
    const status = await statusOf(sql, []);
    expect(await recordingMetrics(status).metrics()).toContain('chain_recorder_late_targets 0');
    await new Watchdog(sql, pino({ level: 'silent' }), () => 0).look();
    await sql`select dataset, sum(rows_written) from reporting.freshness group by dataset`;
    await sql`select * from reporting.coverage_states`;
    await forecast(sql, [feed], Date.now());
    await expect(sql`select from recorder.runs limit 1`).rejects.toThrow('statement timeout');
  });
}, 30_000);
