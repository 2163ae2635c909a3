import { createServer } from 'node:http';

/** A healthy node at every path: the report is new every second. Sends its port to the parent process. */
const CHECKS = ['C', 'P', 'X', 'bls', 'bootstrapped', 'database', 'diskspace', 'network', 'router'];

function report(): string {
  const timestamp = new Date().toISOString();
  const checks = Object.fromEntries(
    CHECKS.map((name) => [name, { message: { connectedPeers: 284 }, timestamp, duration: 20_375 }]),
  );
  return JSON.stringify({ checks, healthy: true });
}

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(report());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
