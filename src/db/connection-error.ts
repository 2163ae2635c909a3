/**
 * Codes of errors of a database that is unavailable or not ready yet, as opposed to a database that refuses
 * the connection.
 */
const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE', // the connection ended while data was being sent
  'ETIMEDOUT', // the keepalive probes of the system were not answered
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  '57P01', // the server is shutting down
  '57P02',
  '57P03', // the server is starting
  '53300', // all connections of the server are in use
  'REPLICA_AWAY', // the replica for reads is unavailable
  'SERVER_LOST', // set by the recorder for errors of PostgreSQL's own programs
  'NO_PRIMARY', // none of several servers accepts writes
]);

/** Messages of `pg` about a broken connection that has no error code. */
const BROKEN_CONNECTION_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired$|Client has encountered a connection error)/;

/**
 * Returns true if an error means that the database cannot be reached at this moment, so that a retry may
 * succeed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The file of a Unix socket disappears with its server.
  if (/^connect (ENOENT|EAGAIN) /.test(error.message)) return true;
  return (
    ('code' in error && UNAVAILABLE_CODES.has(String(error.code))) ||
    BROKEN_CONNECTION_MESSAGE.test(error.message)
  );
}
