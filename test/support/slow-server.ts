import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** A server in its own process that accepts no connection until it is released. */
export interface SlowServer {
  readonly port: number;
  /** Lets it accept connections, and respond to every request with `here`. */
  resume(): void;
  close(): void;
}

/**
 * Starts a server that is stalled, and whose short backlog is full: the kernel drops the first packet of a connection,
 * which is sent again a second later.
 */
export async function slowServer(): Promise<SlowServer> {
  const program = `const server = require('node:http').createServer((_, answer) => answer.end('here'));
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await once(child.stdout, 'data');
  const port = Number(output);
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  let connected = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) socket.on('connect', () => ++connected === 2 && resolve());
  });
  return {
    port,
    resume: () => child.kill('SIGCONT'),
    close: () => {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}
