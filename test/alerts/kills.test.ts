import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

/** More by hand: KILLS=100 npx vitest run test/alerts/kills.test.ts */
const KILLS = Number(process.env.KILLS ?? 6);

let database: TestDatabase;
let sql: postgres.Sql;
let server: UpstreamServer;
const arrived = new EventEmitter();
const got: { key: string; kind: string; subjects: string[]; again: boolean }[] = [];
const running = new Set<ChildProcess>();

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
  await sql`create table public.ill (subject text primary key)`;
  server = await upstreamServer(({ body }, response) => {
    const { key, kind, items, maybe_again } = JSON.parse(body);
    got.push({
      key,
      kind,
      subjects: items.map(({ subject }: { subject: string }) => subject),
      again: maybe_again,
    });
    arrived.emit('message');
    // Long enough for a kill before the answer, or after it.
    setTimeout(() => response.writeHead(204).end(), 10);
  });
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await server.close();
  await sql.end();
  await database.close();
});

function sender(): ChildProcess {
  const program = resolve(import.meta.dirname, 'sender-process.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, database.url, server.url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  return child;
}

/** Waits until a message has come. */
async function message(kind: string, subject: string): Promise<void> {
  while (!got.some((one) => one.kind === kind && one.subjects.includes(subject)))
    await once(arrived, 'message');
}

/** The server has ended the sessions of a process that is dead, and its leases run out. */
async function timePasses(): Promise<void> {
  const others = () => sql`
    select pg_sleep(0.01) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name = 'sender'`;
  while ((await others()).length > 0);
  await sql`update recorder.alert_rounds set lease_until = now()`;
  await sql`update recorder.alert_channels set lease_until = now()`;
}

it(
  `across ${KILLS} kills of the sender every state is told, in order, and twice only under the same key`,
  async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = sender();
      const subject = `n${kill}`;
      await sql`insert into public.ill values (${subject})`;
      await message('firing', subject);
      // In turn while the one kind is under way, and the other; before its answer, and about then.
      if (kill % 2 === 0) {
        await sql`delete from public.ill`;
        await message('resolved', subject);
      }
      if (kill % 3 === 0) await sql`select pg_sleep(0.01)`;
      child.kill('SIGKILL');
      await once(child, 'exit');
      running.delete(child);
      await sql`delete from public.ill`;
      await timePasses();
    }
    // Messages come one after the other: once this one does, all before it are noted as sent.
    await sql`insert into public.ill values ('the end')`;
    const last = sender();
    await message('firing', 'the end');
    last.kill('SIGKILL');
    await once(last, 'exit');
    running.delete(last);

    const rows = await sql<{ id: string; kind: string; subject: string; state: string }[]>`
    select m.id::text, m.kind, a.subject, m.state from recorder.alert_messages m join recorder.alerts a on a.id = m.alerts[1]
    where a.subject <> 'the end' order by m.id`;
    expect(rows.filter(({ state }) => state !== 'sent')).toEqual([]);
    // Each subject was ill once, and well once, and the one before the other.
    for (let kill = 0; kill < KILLS; kill += 1)
      expect(rows.filter(({ subject }) => subject === `n${kill}`).map(({ kind }) => kind)).toEqual([
        'firing',
        'resolved',
      ]);
    const told = got.filter(({ subjects }) => !subjects.includes('the end'));
    const firsts = told.filter(({ key }, at) => told.findIndex((one) => one.key === key) === at);
    expect(firsts.map(({ key, kind, subjects }) => [key, kind, subjects[0]])).toEqual(
      rows.map(({ id, kind, subject }) => [`recorder/ops/${id}`, kind, subject]),
    );
    const repeats = told.filter(({ key }, at) => told.findIndex((one) => one.key === key) < at);
    expect(repeats.every(({ again }) => again)).toBe(true);
    expect(repeats.length).toBeLessThanOrEqual(KILLS);
    console.log(
      `${got.length} calls for ${rows.length} messages: ${repeats.length} were sent again after a kill, and said so`,
    );
  },
  120_000 + 15_000 * KILLS,
);
