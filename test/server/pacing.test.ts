import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { paceRequests } from '../../src/server/pacing.ts';

it('of many requests at once each begins in a turn of its own, in their order', async () => {
  const server = Fastify();
  paceRequests(server);
  let turn = 0;
  let over = false;
  const count = () => {
    turn++;
    if (!over) setImmediate(count);
  };
  const begun: { readonly name: string; readonly turn: number }[] = [];
  server.get<{ Params: { name: string } }>('/:name', async ({ params: { name } }) => {
    begun.push({ name, turn });
    return '';
  });
  await server.ready();
  count();
  const names = Array.from({ length: 50 }, (_, at) => String(at));
  for (let time = 0; time < 2; time++) {
    begun.length = 0;
    const answers = await Promise.all(names.map((name) => server.inject(`/${name}`)));
    expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
    expect(begun.map(({ name }) => name)).toEqual(names);
    expect(new Set(begun.map((one) => one.turn)).size).toBe(names.length);
  }
  over = true;
  await server.close();
});
