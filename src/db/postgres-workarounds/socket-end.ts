import type { Socket } from 'node:net';

/** Called when something was written. */
type Done = (error?: Error | null) => void;

/** What stands behind the length in a start packet: version 3.0 of the protocol. */
const VERSION = Buffer.from([0, 3, 0, 0]);
/** How a CancelRequest begins. The server's answer is that it closes. */
const CANCEL = Buffer.from([0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e]);

/** How a server's words end when it waits for a statement: ReadyForQuery, outside of a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** How an error ends, and what it is where the server ends the connection with it. */
const END_OF_ERROR = Buffer.from([0, 0]);
const ERROR = 0x45;
const LAST_WORDS = /^V(FATAL|PANIC)$/;

/**
 * Gives a connection an end that postgres.js 3.4.9 takes well. Otherwise the driver
 *
 * - gives statements to a connection between its error and its close. They are never settled; or, once the connection is made
 *   again, resolved without rows, so that a statement seems to be done that was never run;
 * - forgets to send what it held back when a connection closed. The next start packet waits behind that, and is never sent;
 * - connects again and again, and tells nobody, where a server closes before it answers;
 * - keeps the error with which a server ends a connection, and gives it to the first statement on the next one.
 *
 * So a connection that is lost before it was ready has an error, which comes together with the close, and one that is lost later has
 * a close, behind the server's last words where it has some: the driver tells those who wait. One on which the driver sends nothing is closed until
 * start packets are enough to be sent, of which all but the last is left out.
 * @param host for the words of the error
 */
export function withReportedEnd<S extends Socket>(socket: S, host: string): S {
  const emit = socket.emit.bind(socket);
  const write = socket.write.bind(socket);
  let failure: unknown = null;
  let farewell: Error | null = null;
  let first: Buffer | null = null;
  let ready = false;

  const close = (): boolean => {
    const error = failure ?? (first === null ? null : closedBy(host));
    if (farewell !== null) emit('error', farewell);
    if (ready || isCancel(first) || error === null) return emit('close', false);
    emit('error', error);
    // The driver waits a little before it comes again to a server that failed.
    return emit('close', true);
  };
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'close') return close();
    ready ||= event === 'data' && isReady(values[0]);
    if (event === 'data' && ready) {
      const [said, last] = partedAtFarewell(values[0]);
      farewell = last;
      return emit('data', said);
    }
    if (event !== 'error') return emit(event, ...values);
    failure ??= values[0];
    return true;
  };
  socket.write = (chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done) => {
    socket.write = write;
    first = startOf(Buffer.from(chunk));
    return typeof encoding === 'function' ? write(first, encoding) : write(first, encoding, done);
  };
  // What the driver sends at once it has sent by the second.
  setImmediate(() => setImmediate(() => first === null && socket.destroy()));
  return socket;
}

const isReady = (chunk: unknown) => Buffer.isBuffer(chunk) && chunk.subarray(-READY.length).equals(READY);

/** What a server says, and the error that it ends the connection with where that stands behind. */
function partedAtFarewell(chunk: unknown): [said: unknown, farewell: Error | null] {
  if (!Buffer.isBuffer(chunk) || !chunk.subarray(-END_OF_ERROR.length).equals(END_OF_ERROR))
    return [chunk, null];
  for (let at = chunk.length - 5; at >= 0; at -= 1) {
    if (chunk[at] !== ERROR || chunk.readUInt32BE(at + 1) !== chunk.length - at - 1) continue;
    const fields = chunk.toString('utf8', at + 5).split('\0');
    if (!fields.some((field) => LAST_WORDS.test(field))) continue;
    const [code, message] = ['C', 'M'].map((name) => fields.find((one) => one.startsWith(name))?.slice(1));
    return [chunk.subarray(0, at), Object.assign(new Error(message), { code })];
  }
  return [chunk, null];
}

const isCancel = (first: Buffer | null) => first?.subarray(0, CANCEL.length).equals(CANCEL) === true;

/** The last start packet of what the driver sends first, or all where there is none. */
function startOf(chunk: Buffer): Buffer {
  for (let at = chunk.lastIndexOf(VERSION); at >= 4; at = chunk.lastIndexOf(VERSION, at - 1)) {
    const begin = at - 4;
    if (chunk.readUInt32BE(begin) === chunk.length - begin) return chunk.subarray(begin);
  }
  return chunk;
}

const closedBy = (host: string) =>
  Object.assign(new Error(`${host} closed the connection`), { code: 'CONNECTION_CLOSED' });
