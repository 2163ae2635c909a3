import { isDatabaseUnavailable } from '../connection-error.ts';

/**
 * Prevents the end of the process when a connection closes before the connection is ready. postgres.js may
 * query the server's types on each new connection and does not await the promise (array-types.ts). If the
 * connection closes at that moment, the rejection has no handler. The caller that needs the connection gets
 * the error, or another connection.
 */
export function outliveLostConnections(): void {
  process.on('unhandledRejection', (error) => {
    if (!isDatabaseUnavailable(error)) throw error;
  });
}
