import { readFile } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { ReadGate } from '../../src/db/read-gate.ts';
import { TooManyReadsError } from '../../src/db/semaphore.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();
let observer: postgres.Sql;
const never = new AbortController().signal;

beforeAll(async () => {
  observer = postgres(database.url, { max: 1 });
});
afterAll(async () => {
  await observer.end();
});

/** Returns the number of readers' running statements that contain the text. */
async function countRunning(text: string): Promise<number> {
  const [row] = await observer<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state = 'active' and application_name = 'chain-recorder reader'
      and query like ${`%${text}%`}`;
  return row?.count ?? 0;
}

/** A read that lasts until `end` is called. */
function startRead(gate: ReadGate) {
  let end = () => {};
  let onStart = () => {};
  const started = new Promise<void>((resolve) => {
    onStart = resolve;
  });
  const done = gate.read(async () => {
    onStart();
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return 'done';
  }, never);
  return { started, done, end: () => end() };
}

/** Returns the connection of a read. */
const pidOf = (gate: ReadGate) =>
  gate.read(async (sql) => {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.01)`;
    return row?.pid;
  }, never);

describe('reading', () => {
  it('gives each read its own connection, and reuses a free one', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 2 });
    const pids = await Promise.all(Array.from({ length: 8 }, () => pidOf(gate)));
    expect(new Set(pids).size).toBe(2);
    await gate.close();
  });

  it('cannot write', async () => {
    const gate = new ReadGate(database.url);
    await expect(gate.read((sql) => sql`create table public.x ()`, never)).rejects.toThrow('read-only');
    await gate.close();
  });

  it('gives recording precedence, and pages more processor time than queries of users', async ({ skip }) => {
    const niceness = (pid: unknown) => getPriority(Number(pid));
    const lowerPriority = (by: number) => Math.min(getPriority() + by, constants.priority.PRIORITY_LOW);
    const gate = new ReadGate(database.url, { yields: true });
    const page = await gate.read((sql) => sql`select pg_backend_pid() as pid`, never);
    const pid = Number(page[0]?.pid);
    const isLocal = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (isLocal.trim() !== 'postgres') skip('PostgreSQL is not a process of this machine');
    const text = 'select pg_backend_pid()';
    const query = await gate.runQuery(
      { text, asOf: null, timeout: 5_000 },
      async ({ rows }) => {
        const { value } = await rows('values').next();
        const [own]: unknown[] = JSON.parse(value?.[0] ?? '[]');
        return niceness(own);
      },
      never,
    );
    expect({ page: niceness(pid), query }).toEqual({ page: lowerPriority(4), query: lowerPriority(10) });
    await gate.close();
  });

  it('refuses at once if too many reads wait, with a time to retry', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 1, waiting: 1 });
    const first = startRead(gate);
    await first.started;
    const second = startRead(gate);
    const third = gate.read(async () => 'third', never);
    await expect(third).rejects.toThrow(TooManyReadsError);
    await expect(third).rejects.toThrow('1 reads are in progress and 1 wait; try again in 2 s');
    first.end();
    await second.started;
    second.end();
    expect(await Promise.all([first.done, second.done])).toEqual(['done', 'done']);
    expect(await gate.read(async () => 'later', never)).toBe('later');
    await gate.close();
  });

  it('does not let a read wait without limit', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 1, maxWaitMs: 20 });
    const first = startRead(gate);
    await first.started;
    await expect(gate.read(async () => 'second', never)).rejects.toThrow('waited for more than 0.02 s');
    first.end();
    await first.done;
    await gate.close();
  });

  it('is cancelled in the database when its request is closed, and its slot is free at once', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 1 });
    const pid = await pidOf(gate);
    const controller = new AbortController();
    const slow = gate.read((sql) => sql`select pg_sleep(30) as gone_away`, controller.signal);
    await expect.poll(() => countRunning('gone_away')).toBe(1);
    controller.abort(new Error('the client disconnected'));
    await expect(slow).rejects.toThrow('the client disconnected');
    // Another connection: the cancelled statement may still run on the previous one.
    expect(await pidOf(gate)).not.toBe(pid);
    await expect.poll(() => countRunning('gone_away'), { timeout: 3_000 }).toBe(0);
    await gate.close();
  });

  it('takes no slot if it is cancelled while it waits', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 1 });
    const first = startRead(gate);
    await first.started;
    const controller = new AbortController();
    const second = gate.read(async () => 'second', controller.signal);
    controller.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    first.end();
    await first.done;
    expect(await gate.read(async () => 'third', never)).toBe('third');
    await gate.close();
  });

  it('releases the slot after an error, and after work that throws at once', async () => {
    const gate = new ReadGate(database.url, { maxConcurrent: 1 });
    await expect(gate.read((sql) => sql`select 1 / 0`, never)).rejects.toThrow('division by zero');
    const thrown = gate.read(() => {
      throw new Error('before it started');
    }, never);
    await expect(thrown).rejects.toThrow('before it started');
    expect(await gate.read(async () => 'next', never)).toBe('next');
    await gate.close();
  });

  it('does not admit a read whose signal aborted before', async () => {
    const gate = new ReadGate(database.url);
    let isCalled = false;
    const aborted = AbortSignal.abort(new Error('gone before'));
    await expect(
      gate.read(async () => {
        isCalled = true;
      }, aborted),
    ).rejects.toThrow('gone before');
    await setImmediate();
    expect(isCalled).toBe(false);
    await gate.close();
  });
});
