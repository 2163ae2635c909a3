import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enrol, enrolled, processStart, withProcessLock } from '../../src/db/process-lock.ts';

let register: string;

beforeEach(async () => {
  register = await mkdtemp(join(tmpdir(), 'register-'));
});

afterEach(async () => {
  await rm(register, { recursive: true });
});

it('counts living processes and forgets dead ones, and earlier ones with the same number', async () => {
  await writeFile(join(register, '999999999-1-dead'), '');
  await writeFile(join(register, `${process.pid}-1-earlier`), '');
  const leave = await enrol(register);
  expect(await enrolled(register)).toEqual([process.pid]);
  expect(await readdir(register)).toHaveLength(1);
  await leave();
  expect(await enrolled(register)).toEqual([]);
});

it('lets one in at a time, and the next after a failure', async () => {
  let inside = 0;
  const work = async (turn: number) => {
    inside += 1;
    await setImmediate();
    expect(inside).toBe(1);
    inside -= 1;
    if (turn === 2) throw new Error('this turn failed');
    return turn;
  };
  const turns = [1, 2, 3, 4].map((turn) => withProcessLock(register, () => work(turn)));
  const outcomes = await Promise.allSettled(turns);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

it('gives up on a holder that stays, and names it', async () => {
  const start = await processStart(process.ppid);
  await writeFile(join(register, `${process.ppid}-${start}-holder`), '');
  await expect(withProcessLock(register, async () => {}, 50)).rejects.toThrow(String(process.ppid));
});
