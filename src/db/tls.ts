import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

/** How connections to a server are encrypted; `direct`: from the first byte, without asking for it. */
export interface Encryption {
  readonly ssl: false | { readonly rejectUnauthorized: boolean };
  readonly sslnegotiation: 'direct' | 'postgres';
}

/** How long each step may take, ms. */
const PATIENCE = 10_000;

/** PostgreSQL's SSLRequest, and the answer to it after which TLS begins. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const YES = 'S';

/**
 * Encrypts a connection that is being made.
 * @param host whose name or address the certificate must have, where it is looked at
 * @throws Error when the server does not offer TLS or does not answer, or its certificate is refused
 */
export async function encrypted(
  socket: Socket,
  host: string,
  { ssl, sslnegotiation }: Encryption,
): Promise<TLSSocket> {
  // Whoever waits is told; the loss of a connection must not end the process.
  socket.on('error', () => {});
  const direct = sslnegotiation === 'direct';
  try {
    if (!direct) {
      socket.write(SSL_REQUEST);
      const answer = await arrivalOf('data', socket, host);
      // More than this byte would not be encrypted, and may be somebody else's.
      if (String(answer) !== YES) throw coded('ERR_NO_TLS', `${host} does not offer TLS`);
    }
    const secure = connect({
      socket,
      host,
      ...(isIP(host) ? {} : { servername: host }),
      ...ssl,
      ...(direct ? { ALPNProtocols: ['postgresql'] } : {}),
    });
    await arrivalOf('secureConnect', secure, host);
    return secure;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Waits for an event of a connection. @throws when it ends before, or nothing comes for {@link PATIENCE} */
async function arrivalOf(event: string, socket: Socket, host: string): Promise<unknown> {
  const late = () => socket.destroy(coded('CONNECT_TIMEOUT', `${host} does not answer`));
  socket.setTimeout(PATIENCE, late);
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
