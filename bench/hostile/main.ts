import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { z } from 'zod';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { median } from '../median.ts';
import { AT_ONCE, beginLoad, ENDLESS } from './load.ts';

/**
 * How fast blocks are recorded alone and beside hostile load on the pages of the same process, in turns:
 * `npx tsx bench/hostile/main.ts [--rows 50000] [--rounds 5]`. Whoever loads takes cores from the recording too: it is on the same machine.
 */
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '5' } },
});
const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const closers: (() => Promise<void>)[] = [];
const took = z.object({ rows: z.literal(rows), milliseconds: z.number() });

try {
  const service = await Child.start(
    'service/main.ts',
    [String(rows)],
    z.object({ port: z.number() }),
    stop.signal,
  );
  closers.push(() => service.child.stop());
  const database = await startDatabase();
  closers.push(database.close);
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  closers.push(() => sql.end({ timeout: 5 }));
  const setup = { serviceUrl: `http://127.0.0.1:${service.first.port}`, databaseUrl: database.url, rows };
  const recorder = await Child.start(
    'hostile/recording-process.ts',
    [JSON.stringify(setup)],
    z.object({ address: z.string() }),
    stop.signal,
  );
  closers.push(() => recorder.child.stop());
  const record = async () => {
    await sql`truncate recorder.proposed_blocks, recorder.targets, recorder.target_datasets, recorder.runs, recorder.coverage`;
    await sql`checkpoint`;
    return (await recorder.child.ask('run', took)).milliseconds;
  };
  console.log(`the first time, which compiles and plans: ${seconds(await record())}`);
  const times = { alone: [] as number[], beside: [] as number[] };
  for (let round = 1; round <= rounds; round++) {
    const alone = await record();
    console.log(`round ${round}/${rounds}: alone ${seconds(alone)}`);
    const load = await beginLoad(recorder.first.address);
    const beside = await record().finally(load.stop);
    const answers = await load.ended;
    await settled(sql);
    times.alone.push(alone);
    times.beside.push(beside);
    const told = [...answers]
      .sort(([a], [b]) => a - b)
      .map(([code, count]) => `${count} × ${code || 'closed'}`);
    console.log(`round ${round}/${rounds}: beside ${seconds(beside)}; answers: ${told.join(', ') || 'none'}`);
    if (answers.has(500)) process.exitCode = 1;
  }
  const [alone, beside] = [median(times.alone), median(times.beside)];
  console.log(
    `${rows} blocks, medians: alone ${seconds(alone)}, beside ${AT_ONCE} requests at once and ${ENDLESS} that never end ${seconds(beside)}: ` +
      `${(alone / beside).toFixed(2)} of the rate alone; load ${loadavg()[0]?.toFixed(1)}`,
  );
} catch (error) {
  if (!stop.signal.aborted) throw error;
  console.error('stopped before the end');
  process.exitCode = 130;
} finally {
  for (const close of closers.reverse()) await close();
}

/** Waits until nothing is left of the load in the database: the next recording is alone. */
async function settled(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const [left] = await sql`
      select from pg_stat_activity where application_name in ('chain-recorder reader', 'chain-recorder query') and state = 'active'`;
    if (!left) return;
    await delay(250);
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
