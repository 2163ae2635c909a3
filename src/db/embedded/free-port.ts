import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, so that nobody gets one of these by chance. */
const LASTING = { from: 10_000, to: 30_000 };

/** A TCP port of 127.0.0.1 that nobody listens on now; somebody may by the time it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}

/** As {@link freePort}, but one that is likely to be free again at the next start. */
export async function lastingPort(): Promise<number> {
  for (let tries = 0; tries < 20; tries++) {
    const port = randomInt(LASTING.from, LASTING.to);
    if (await isFree(port)) return port;
  }
  return freePort();
}

/** Whether a process could listen on the port of 127.0.0.1 now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}
