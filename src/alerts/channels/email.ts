import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { toErrorMessage } from '../../lib/errors.ts';
import { DeliveryFailure } from '../../upstreams/delivery-failure.ts';
import type { MakeChannel } from '../channel.ts';
import { formatText, formatTitle } from '../message-texts.ts';

/** Timeout of connecting, in ms. */
const CONNECT_TIMEOUT_MS = 8_000;

/** Timeout of a response, in ms. */
const RESPONSE_TIMEOUT_MS = 10_000;
/** SMTP reply code for a message that exceeds the allowed storage. */
const MESSAGE_TOO_LARGE = 552;
/** Error codes of failures before the text was sent. */
const NOT_SENT_CODES = new Set(['EAUTH', 'EDNS', 'EENVELOPE', 'ETLS', 'ECONNECTION', 'ENOAUTH']);

/**
 * Channel for e-mail by SMTP. `Message-ID` is equal for each attempt of a message, so that many servers
 * deduplicate the message.
 */
export const email: MakeChannel<'email'> = ({ host, port, user, password, from, to }) => ({
  send: async (message, signal) => {
    const transport = createTransport({
      ...{ host, port, secure: port === 465 },
      // A password is only sent over TLS, or to this machine.
      requireTLS: password !== undefined && !isHere(host),
      ...(user !== undefined && password !== undefined && { auth: { user, pass: password } }),
      ...{
        connectionTimeout: CONNECT_TIMEOUT_MS,
        greetingTimeout: CONNECT_TIMEOUT_MS,
        dnsTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: RESPONSE_TIMEOUT_MS,
      },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
    const sent = await transport
      .sendMail({
        ...{ from, to, subject: formatTitle(message), text: formatText(message, 20_000) },
        messageId: `<${digest(message.key)}@chain-recorder>`,
        date: new Date(message.at),
        // `References` groups the messages about one alert.
        references: message.items
          .slice(0, 10)
          .map(({ alert }) => `<alert-${message.recorder}-${alert}@chain-recorder>`),
        headers: { 'Auto-Submitted': 'auto-generated' },
        // Closing the transport does not abort a running request.
        signal,
      })
      .catch((error: unknown) => {
        throw failureOf(error);
      });
    // nodemailer resolves if the server accepts at least one address. A retry would repeat the message to
    // that address.
    const [first] = sent.rejectedErrors ?? [];
    if (first)
      throw new DeliveryFailure(
        'refused',
        `sent, but not to ${sent.rejected.join(', ')}: ${toErrorMessage(first)}`,
      );
  },
});

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 40);

const isHere = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function failureOf(error: unknown): DeliveryFailure {
  const code = property(error, 'code');
  const answer = Number(property(error, 'responseCode'));
  const errorText = `${code === '' ? '' : `${code}: `}${toErrorMessage(error)}`;
  // The server accepted everything except the text.
  if (code === 'EMESSAGE' && answer === MESSAGE_TOO_LARGE) return new DeliveryFailure('too-large', errorText);
  if (code === 'EMESSAGE' && answer >= 500) return new DeliveryFailure('refused', errorText);
  return new DeliveryFailure('down', errorText, { mayHaveArrived: !NOT_SENT_CODES.has(code) });
}

function property(error: unknown, name: string): string {
  if (typeof error !== 'object' || error === null) return '';
  const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value;
  return value === undefined ? '' : String(value);
}
