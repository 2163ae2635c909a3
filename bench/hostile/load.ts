import { once } from 'node:events';
import { connect } from 'node:net';
import { Agent, request } from 'undici';

/** Number of concurrent clients, and of connections that never end their request. */
export const AT_ONCE = 500;
export const ENDLESS = 100;

/**
 * The most expensive requests: large pages, lists, queries that hold their slot until they are cancelled, invalid ones.
 */
const EXPENSIVE = [
  '/',
  '/datasets/proposed_blocks?sort=-block_size_bytes',
  '/api/v1/datasets/proposed_blocks/rows?limit=1000',
  '/query?sql=select+count(*)+from+proposed_blocks+a,+proposed_blocks+b',
  '/query?sql=select+pg_sleep(9)',
  '/runs?status=%27+or+1%3D1--',
];

/** Number of responses by status; 0: the connection was closed. */
export type Answers = ReadonlyMap<number, number>;

/** Load that continues until it is stopped. Responses after that are not waited for. */
export interface Load {
  stop(): Promise<void>;
  readonly ended: Promise<Answers>;
}

/** Sends expensive requests, 500 at once, until it is ended. Each client repeats after its response. */
export async function startLoad(address: string): Promise<Load> {
  const agent = new Agent({ connections: AT_ONCE });
  const { hostname, port } = new URL(address);
  const idle = await Promise.all(
    Array.from({ length: ENDLESS }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nX-Slow: `);
      return socket;
    }),
  );
  const answers = new Map<number, number>();
  let isStopped = false;
  const clients = Array.from({ length: AT_ONCE }, async (_, at) => {
    while (!isStopped) {
      const code = await request(address + EXPENSIVE[at % EXPENSIVE.length], { dispatcher: agent }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        },
        () => 0,
      );
      if (code === 500) process.exitCode = 1;
      if (!isStopped) answers.set(code, (answers.get(code) ?? 0) + 1);
    }
  });
  return {
    stop: async () => {
      isStopped = true;
      for (const socket of idle) socket.destroy();
      await agent.destroy();
    },
    ended: Promise.all(clients).then(() => answers),
  };
}

/** As text, one part a status. */
export function answersText(answers: Answers): string {
  const parts = [...answers].sort(([a], [b]) => a - b);
  return parts.map(([code, count]) => `${count} × ${code || 'closed'}`).join(', ') || 'none';
}
