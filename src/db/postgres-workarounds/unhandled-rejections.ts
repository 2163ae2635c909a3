import { isAway } from '../connection-error.ts';

/**
 * Lets the process outlive a connection that is cut while it is made. postgres.js reads the server's types on each new connection, where
 * it is let (the upgrade of an embedded database lets it, see array-types.ts), and does not await the promise: when the connection is cut at that moment, the rejection has no handler. The caller that needs the
 * connection gets the error, or another connection.
 */
export function outliveLostConnections(): void {
  process.on('unhandledRejection', (error) => {
    if (!isAway(error)) throw error;
  });
}
