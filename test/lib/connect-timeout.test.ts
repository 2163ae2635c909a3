import { once } from 'node:events';
import {
  connect,
  getDefaultAutoSelectFamilyAttemptTimeout,
  type LookupFunction,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { raiseConnectTimeout } from '../../src/lib/connect-timeout.ts';
import { toErrorMessage } from '../../src/lib/errors.ts';
import { slowServer } from '../support/slow-server.ts';

const before = getDefaultAutoSelectFamilyAttemptTimeout();
afterEach(() => setDefaultAutoSelectFamilyAttemptTimeout(before));

it('reports the error of each of several addresses', async () => {
  const lookup: LookupFunction = (_name, _options, found) =>
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  const socket = connect({ host: 'two-addresses.example', port: 1, lookup });
  const error = await new Promise((resolve) => socket.on('error', resolve));
  expect(toErrorMessage(error)).toBe('connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED ::1:1');
});

it('connects to a slow address from any module, though the other address is unreachable', async () => {
  const server = await slowServer();
  const lookup: LookupFunction = (_name, _options, found) => {
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    setTimeout(server.resume, 100);
  };
  raiseConnectTimeout();
  const socket = connect({ host: 'two-addresses.example', port: server.port, lookup });
  await once(socket, 'connect');
  expect(socket.remoteAddress).toBe('127.0.0.1');
  socket.destroy();
  server.close();
});
