import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { toErrorMessage, UsageError } from '../../lib/errors.ts';

/**
 * Range of ports that are tried, inclusive start, exclusive end. The range is below the ephemeral ports of
 * most systems, so that outgoing connections do not use these ports.
 */
const STABLE_PORTS = { from: 10_000, to: 30_000 };

/**
 * Returns a TCP port of 127.0.0.1 on which nothing listens now. Another process may use this port before the
 * caller does.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('the operating system returned no port');
  return address.port;
}

/** Returns a free TCP port of 127.0.0.1 that is likely to be free again at the next start. */
export async function findStablePort(): Promise<number> {
  for (let tries = 0; tries < 20; tries++) {
    const port = randomInt(STABLE_PORTS.from, STABLE_PORTS.to);
    if (await isPortFree(port)) return port;
  }
  return findFreePort();
}

/** Returns true if a process could listen on a port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
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

/**
 * Refuses a system on which processes cannot reach each other at 127.0.0.1.
 * @throws UsageError with the fix
 */
export async function refuseWithoutLoopback(): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') return;
    const socket = connect(address.port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  } catch (cause) {
    throw new UsageError(
      [
        `embedded PostgreSQL: 127.0.0.1 cannot be reached (${toErrorMessage(cause)}): enable the loopback interface (ip link set lo up)`,
      ],
      { cause },
    );
  } finally {
    server.close();
  }
}
