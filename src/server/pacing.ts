import type { FastifyInstance } from 'fastify';

/**
 * Lets one request begin in each turn of the event loop, in the order in which they came. So what else the process does, such as
 * recording, has its turn after each of them, not after all that came at once. Without a crowd nobody waits.
 */
export function paceRequests(server: FastifyInstance): void {
  const waiting = new Set<() => void>();
  const turn = () => {
    const [begin] = waiting;
    if (!begin) return;
    waiting.delete(begin);
    if (waiting.size > 0) setImmediate(turn);
    begin();
  };
  server.addHook('onRequest', (_request, _reply, begin) => {
    waiting.add(begin);
    if (waiting.size === 1) setImmediate(turn);
  });
}
