import { expect, it } from 'vitest';
import { Mutex } from '../../src/upstreams/mutex.ts';

const never = new AbortController().signal;

it('admits one at a time, in order', async () => {
  const mutex = new Mutex();
  const admitted: string[] = [];
  const release = await mutex.acquire(never);
  const others = ['second', 'third'].map(async (name) => {
    const releaseOther = await mutex.acquire(never);
    admitted.push(name);
    releaseOther();
  });
  await Promise.resolve();
  expect(admitted).toEqual([]);
  release();
  await Promise.all(others);
  expect(admitted).toEqual(['second', 'third']);
});

it('continues past a caller that gave up waiting, at once or before its turn', async () => {
  const mutex = new Mutex();
  const release = await mutex.acquire(never);
  const impatient = new AbortController();
  const cancelled = mutex.acquire(impatient.signal);
  const late = mutex.acquire(AbortSignal.abort(new Error('too late')));
  const last = mutex.acquire(never);
  impatient.abort(new Error('waited enough'));
  await expect(cancelled).rejects.toThrow('waited enough');
  await expect(late).rejects.toThrow('too late');
  release();
  (await last)();
});
