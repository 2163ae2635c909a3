import type { Socket } from 'node:net';

/** Callback of a write. */
type WriteCallback = (error?: Error | null) => void;

/** The bytes after the length in a startup packet: version 3.0 of the protocol. */
const PROTOCOL_VERSION = Buffer.from([0, 3, 0, 0]);
/** First bytes of a CancelRequest. The server responds by closing the connection. */
const CANCEL_REQUEST = Buffer.from([0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e]);

/**
 * ReadyForQuery outside of a transaction: the last bytes that a server sends before it waits for a statement.
 */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Last bytes of an ErrorResponse. */
const END_OF_ERROR = Buffer.from([0, 0]);

/** Message type of an ErrorResponse. */
const ERROR_RESPONSE = 0x45;

/** Pattern of the severity field of an error with which the server closes the connection. */
const FATAL_SEVERITY = /^V(FATAL|PANIC)$/;

/**
 * Changes the close events of a connection to a form that postgres.js 3.4.9 handles correctly. Otherwise the
 * driver
 * - sends statements to a connection between its error and its close. These statements never settle, or they
 * resolve without rows after the reconnect, so that a statement that never ran appears to be done;
 * - keeps unsent bytes when a connection closes. The next startup packet is queued after them and never sent;
 * - reconnects repeatedly without reporting an error, if a server closes before it responds;
 * - keeps the error with which a server closes a connection, and rejects the first statement of the next
 * connection with it. So a connection that is lost before it was ready emits an error together with the
 * close. A connection that is lost later emits only a close, or the server's final error and then a close:
 * the driver then rejects the waiting statements. The driver's first write may start with queued startup
 * packets of earlier, closed connections. Only the last startup packet is sent.
 * @param host host for the message of the error
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
    // The driver waits a little before it reconnects to a server that failed.
    return emit('close', true);
  };
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'close') return close();
    ready ||= event === 'data' && isReady(values[0]);
    if (event === 'data' && ready) {
      const [data, last] = splitFinalError(values[0]);
      farewell = last;
      return emit('data', data);
    }
    if (event !== 'error') return emit(event, ...values);
    failure ??= values[0];
    return true;
  };
  socket.write = (
    chunk: Uint8Array | string,
    encoding?: BufferEncoding | WriteCallback,
    done?: WriteCallback,
  ) => {
    socket.write = write;
    first = startOf(Buffer.from(chunk));
    return typeof encoding === 'function' ? write(first, encoding) : write(first, encoding, done);
  };
  // The second `setImmediate` runs after the driver has sent everything that it sends at once.
  setImmediate(() => setImmediate(() => first === null && socket.destroy()));
  return socket;
}

const isReady = (chunk: unknown) =>
  Buffer.isBuffer(chunk) && chunk.subarray(-READY_FOR_QUERY.length).equals(READY_FOR_QUERY);

/** Splits the final error, with which a server closes the connection, from the data before it. */
function splitFinalError(chunk: unknown): [data: unknown, farewell: Error | null] {
  if (!Buffer.isBuffer(chunk) || !chunk.subarray(-END_OF_ERROR.length).equals(END_OF_ERROR))
    return [chunk, null];
  for (let at = chunk.length - 5; at >= 0; at -= 1) {
    if (chunk[at] !== ERROR_RESPONSE || chunk.readUInt32BE(at + 1) !== chunk.length - at - 1) continue;
    const fields = chunk.toString('utf8', at + 5).split('\0');
    if (!fields.some((field) => FATAL_SEVERITY.test(field))) continue;
    const [code, message] = ['C', 'M'].map((name) => fields.find((one) => one.startsWith(name))?.slice(1));
    return [chunk.subarray(0, at), Object.assign(new Error(message), { code })];
  }
  return [chunk, null];
}

const isCancel = (first: Buffer | null) =>
  first?.subarray(0, CANCEL_REQUEST.length).equals(CANCEL_REQUEST) === true;

/** Returns the last startup packet of the driver's first write, or the whole write if there is none. */
function startOf(chunk: Buffer): Buffer {
  for (
    let at = chunk.lastIndexOf(PROTOCOL_VERSION);
    at >= 4;
    at = chunk.lastIndexOf(PROTOCOL_VERSION, at - 1)
  ) {
    const begin = at - 4;
    if (chunk.readUInt32BE(begin) === chunk.length - begin) return chunk.subarray(begin);
  }
  return chunk;
}

const closedBy = (host: string) =>
  Object.assign(new Error(`${host} closed the connection`), { code: 'CONNECTION_CLOSED' });
