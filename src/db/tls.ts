import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

/** Encryption of connections to a server. `direct` starts TLS without an SSLRequest. */
export interface Encryption {
  readonly ssl: false | { readonly rejectUnauthorized: boolean };
  readonly sslnegotiation: 'direct' | 'postgres';
}

/** Timeout of each step of the encryption, in ms. */
const STEP_TIMEOUT_MS = 10_000;

/** PostgreSQL's SSLRequest message. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** The response to an SSLRequest that accepts TLS. */
const TLS_ACCEPTED = 'S';

/**
 * Encrypts a connection that is being opened.
 * @param host name or address that the certificate must have, if it is verified
 * @throws Error if the server does not offer TLS or does not respond, or its certificate is refused
 */
export async function encryptSocket(
  socket: Socket,
  host: string,
  { ssl, sslnegotiation }: Encryption,
): Promise<TLSSocket> {
  // The caller gets the error from the promise of this function. Without this listener the loss of a
  // connection would end the process.
  socket.on('error', () => {});
  const direct = sslnegotiation === 'direct';
  try {
    if (!direct) {
      socket.write(SSL_REQUEST);
      const answer = await waitForEvent('data', socket, host);
      // Bytes after this byte would not be encrypted, and may come from an attacker.
      if (String(answer) !== TLS_ACCEPTED) throw coded('ERR_NO_TLS', `${host} does not offer TLS`);
    }
    const secure = connect({
      socket,
      host,
      ...(isIP(host) ? {} : { servername: host }),
      ...ssl,
      ...(direct ? { ALPNProtocols: ['postgresql'] } : {}),
    });
    await waitForEvent('secureConnect', secure, host);
    return secure;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * Waits for an event of a connection.
 * @throws Error if the connection closes first, or nothing arrives within {@link STEP_TIMEOUT_MS}
 */
async function waitForEvent(event: string, socket: Socket, host: string): Promise<unknown> {
  const late = () => socket.destroy(coded('CONNECT_TIMEOUT', `${host} does not respond`));
  socket.setTimeout(STEP_TIMEOUT_MS, late);
  try {
    return await new Promise((resolve, reject) => {
      socket.once(event, resolve).once('error', reject);
      socket.once('close', () =>
        reject(coded('CONNECTION_CLOSED', `${host} closed the connection before it was encrypted`)),
      );
    });
  } finally {
    socket.setTimeout(0, late);
  }
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });
