import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { z } from 'zod';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { median } from '../median.ts';
import { AT_ONCE, answersText, ENDLESS, startLoad } from './load.ts';
import { between, formatProcessorUsage, readProcessorUsage } from './processor-usage.ts';

/**
 * Records this many blocks, alone and beside hostile load on the pages of the same process, alternately, and returns
 * the rates.
 */
export async function backfillUnderLoad(
  { rows, rounds }: { readonly rows: number; readonly rounds: number },
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  const closers: (() => Promise<void>)[] = [];
  const runSchema = z.object({ rows: z.literal(rows), milliseconds: z.number() });
  try {
    const service = await Child.start(
      'service/main.ts',
      [String(rows)],
      z.object({ port: z.number() }),
      signal,
    );
    closers.push(() => service.child.stop());
    const database = await startDatabase();
    closers.push(database.close);
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    closers.push(() => sql.end({ timeout: 5 }));
    const setup = { serviceUrl: `http://127.0.0.1:${service.first.port}`, databaseUrl: database.url, rows };
    const startSchema = z.object({ address: z.string(), pid: z.int() });
    const process = 'hostile/recording-process.ts';
    const { child, first } = await Child.start(process, [JSON.stringify(setup)], startSchema, signal);
    closers.push(() => child.stop());
    const record = async (name: string) => {
      await sql`truncate recorder.proposed_blocks, recorder.targets, recorder.target_datasets, recorder.runs, recorder.coverage`;
      await sql`checkpoint`;
      const before = await readProcessorUsage(sql, first.pid);
      const { milliseconds } = await child.request('run', runSchema);
      const processor = formatProcessorUsage(between(before, await readProcessorUsage(sql, first.pid)));
      log(`${name}: ${seconds(milliseconds)}; of processors, s: ${processor}`);
      return milliseconds;
    };
    await record('the first time, which compiles and plans');
    const times = { alone: [] as number[], underLoad: [] as number[] };
    for (let round = 1; round <= rounds; round++) {
      times.alone.push(await record(`round ${round}/${rounds}, alone`));
      const load = await startLoad(first.address);
      times.underLoad.push(await record(`round ${round}/${rounds}, beside`).finally(load.stop));
      log(`  answers: ${answersText(await load.ended)}`);
      await waitUntilIdle(sql);
    }
    const [alone, underLoad] = [median(times.alone), median(times.underLoad)];
    log(
      `${rows} blocks, medians: alone ${seconds(alone)}, beside ${AT_ONCE} requests at once and ${ENDLESS} that never end ` +
        `${seconds(underLoad)}: ${(alone / underLoad).toFixed(2)} of the rate alone`,
    );
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Waits until no query of the load is left in the database: the next recording is alone. */
async function waitUntilIdle(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const [activeQuery] = await sql`
      select from pg_stat_activity where application_name in ('chain-recorder reader', 'chain-recorder query') and state = 'active'`;
    if (!activeQuery) return;
    await delay(250);
  }
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
