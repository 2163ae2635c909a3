import { expect, it } from 'vitest';
import { Turns } from '../../src/upstreams/turns.ts';

const never = new AbortController().signal;

it('lets one through at a time, in order', async () => {
  const turns = new Turns();
  const through: string[] = [];
  const first = await turns.take(never);
  const others = ['second', 'third'].map(async (name) => {
    const end = await turns.take(never);
    through.push(name);
    end();
  });
  await Promise.resolve();
  expect(through).toEqual([]);
  first();
  await Promise.all(others);
  expect(through).toEqual(['second', 'third']);
});

it('goes on past whoever gave up waiting, at once or before it came', async () => {
  const turns = new Turns();
  const first = await turns.take(never);
  const impatient = new AbortController();
  const gaveUp = turns.take(impatient.signal);
  const late = turns.take(AbortSignal.abort(new Error('too late')));
  const last = turns.take(never);
  impatient.abort(new Error('waited enough'));
  await expect(gaveUp).rejects.toThrow('waited enough');
  await expect(late).rejects.toThrow('too late');
  first();
  (await last)();
});
