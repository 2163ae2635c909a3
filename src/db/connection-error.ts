/** Errors of a database that is away or not ready yet, as opposed to one that refuses us. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE', // it ended while something was being sent
  'ETIMEDOUT', // the system's questions whether it is there had no answer
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  '57P01', // it is being stopped
  '57P02',
  '57P03', // it is starting
  '53300', // all its connections are taken
  'REPLICA_AWAY', // what is read from a replica
  'SERVER_LOST', // what PostgreSQL's own programs say of it
  'NO_PRIMARY', // of several servers none takes writes
]);

/** What `pg` says of a connection that broke, without a code. */
const BROKEN =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired$|Client has encountered a connection error)/;

/** Whether an error means that the database cannot be reached now, so that trying again later may help. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The file of its socket goes with a server.
  if (/^connect (ENOENT|EAGAIN) /.test(error.message)) return true;
  return ('code' in error && AWAY.has(String(error.code))) || BROKEN.test(error.message);
}
