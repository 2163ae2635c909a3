import { expect, it } from 'vitest';
import { Mutex } from '../../src/upstreams/mutex.ts';

const never = new AbortController().signal;

it('admits one at a time, in order', async () => {
  const turns = new Mutex();
  const through: string[] = [];
  const first = await turns.acquire(never);
  const others = ['second', 'third'].map(async (name) => {
    const end = await turns.acquire(never);
    through.push(name);
    end();
  });
  await Promise.resolve();
  expect(through).toEqual([]);
  first();
  await Promise.all(others);
  expect(through).toEqual(['second', 'third']);
});

it('continues past a caller that gave up waiting, at once or before its turn', async () => {
  const turns = new Mutex();
  const first = await turns.acquire(never);
  const impatient = new AbortController();
  const gaveUp = turns.acquire(impatient.signal);
  const late = turns.acquire(AbortSignal.abort(new Error('too late')));
  const last = turns.acquire(never);
  impatient.abort(new Error('waited enough'));
  await expect(gaveUp).rejects.toThrow('waited enough');
  await expect(late).rejects.toThrow('too late');
  first();
  (await last)();
});
