import { isDatabaseUnavailable } from '../connection-error.ts';

/**
 * Keeps the process alive when a connection closes while it is being opened. postgres.js may query the server's
 * types on each new connection and does not await the promise (array-types.ts). If the connection closes at
 * that moment, the rejection has no handler. The caller that needs the connection gets the error, or another
 * connection.
 */
export function outliveLostConnections(): void {
  process.on('unhandledRejection', (error) => {
    if (!isDatabaseUnavailable(error)) throw error;
  });
}
