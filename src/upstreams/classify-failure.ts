import { toErrorMessage } from '../lib/errors.ts';
import { type FailureKind, failureTable, redactUrls, sanitizeMessage, UpstreamFailure } from './failure.ts';
import type { HttpResponse } from './http.ts';
import { parseJson } from './json.ts';
import { retryAfter } from './rate-limit-headers.ts';

/** Failure kinds by the error code of the socket, the resolver, undici or zlib. */
const KINDS_BY_CODE: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  // The connection ended before the body was complete.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'local',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  Z_DATA_ERROR: 'malformed',
  Z_BUF_ERROR: 'malformed',
};

/** Error codes of the resolver: those of getaddrinfo and of DNS servers. */
const DNS_CODE =
  /^(EAI_\w+|ENOTFOUND|ENODATA|ESERVFAIL|EFORMERR|ENOTIMP|EREFUSED|EBADQUERY|EBADNAME|EBADRESP|ETIMEOUT)$/;
/** Error codes of TLS: those of OpenSSL, and of X.509 verification (Node.js documents them under `tls`). */
const TLS_CODE =
  /CERT|CRL|TLS|SSL|SELF_SIGNED|UNABLE_TO_|^(EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|OUT_OF_MEM)$/;

const KIND_TEXTS: Readonly<Partial<Record<FailureKind, string>>> = {
  dns: 'the name lookup failed',
  unreachable: 'the host is unreachable',
  local: 'this machine could not make the call',
  refused: 'the connection was refused',
  reset: 'the connection was closed before the response was complete',
  tls: 'the TLS handshake failed',
  timeout: 'the call timed out',
  malformed: 'the answer is not HTTP',
};

/** Returns the failure for an error of undici, of the socket or of zlib. */
export function failureOfError(error: unknown): UpstreamFailure {
  const code = codeOf(error);
  const kind = kindOfCode(code, error);
  // Messages of unknown errors may contain the URL. The message of an error with a code contains only the
  // code.
  const detail = code === '' ? redactUrls(toErrorMessage(error)) : code;
  return new UpstreamFailure(kind, `${KIND_TEXTS[kind] ?? 'the call failed'} (${detail})`, { code });
}

function kindOfCode(code: string, error: unknown): FailureKind {
  const known = KINDS_BY_CODE[code];
  if (known) return known;
  if (DNS_CODE.test(code)) return 'dns';
  if (TLS_CODE.test(code)) return 'tls';
  if (code.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError'))
    return 'malformed';
  // An unlisted code does not prove a failure of the upstream.
  return 'local';
}

function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return mostCertainCode(at.errors);
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return '';
}

/**
 * Returns the most conclusive code among those of the addresses of a host. A refused connection comes from
 * the host. An unreachable network may be caused by missing IPv6 on this machine.
 */
function mostCertainCode(errors: readonly unknown[]): string {
  const codes = errors.map((error) => ({
    code: codeOf(error),
    rule: failureTable[kindOfCode(codeOf(error), error)],
  }));
  const down = codes.filter(({ rule }) => rule.probe === 'down');
  return (down.find(({ rule }) => !rule.network) ?? down[0] ?? codes[0])?.code ?? '';
}

/**
 * Returns the failure of a response by its status. Returns null if the status is 2xx, except 206 (a partial
 * body).
 * @param now clock of the recorder, in ms
 * @param instead text that follows the status in the message, such as ` instead of a health report`
 */
export function failureOfStatus(answer: HttpResponse, now: number, instead = ''): UpstreamFailure | null {
  const { status } = answer;
  const kind = kindOfStatus(status);
  if (kind === null) return null;
  const words = STATUS_TEXTS[kind] ?? readErrorMessage(answer);
  const pause = kind === 'rate-limited' || kind === 'server' ? retryAfter(answer, now) : undefined;
  return new UpstreamFailure(kind, `HTTP ${status}${instead}${words}`, { status, pause });
}

const STATUS_TEXTS: Readonly<Partial<Record<FailureKind, string>>> = {
  redirect: ': redirects are not followed',
  malformed: ': a partial response, which was not requested',
};

function kindOfStatus(status: number): FailureKind | null {
  if (status === 206) return 'malformed';
  if (status >= 200 && status < 300) return null;
  if (status === 429) return 'rate-limited';
  // 407 and 511 come from a proxy between the recorder and the upstream.
  if ([401, 403, 407, 511].includes(status)) return 'auth';
  if (status === 404 || status === 410) return 'not-found';
  // No standard defines 600 to 999; firewalls use them to refuse access.
  if (status >= 500 && status < 600) return 'server';
  if (status >= 300 && status < 400) return 'redirect';
  return 'bad-request';
}

/**
 * Returns the error message in a JSON or text body, preceded by `: `. Returns an empty text for other bodies,
 * such as HTML.
 */
function readErrorMessage(answer: HttpResponse): string {
  const words = mediaTypeOf(answer).startsWith('text/plain')
    ? answer.text.trim().split('\n')[0]
    : messageIn(jsonOrNull(answer.text));
  return words ? `: ${sanitizeMessage(words)}` : '';
}

/** Returns the parsed text, or null if the text is not JSON. */
export function jsonOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Returns the error message of a JSON body: `message`, the JSON-RPC `error.message`, or `error`. */
export function messageIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('message' in body) return Array.isArray(body.message) ? body.message.join('; ') : String(body.message);
  if (!('error' in body)) return null;
  const { error } = body;
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return typeof error === 'string' ? error : null;
}

/**
 * Returns the media type in lower case, such as `text/html`. Returns an empty text if the response has none.
 */
export const mediaTypeOf = ({ headers }: HttpResponse): string =>
  String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase() ?? '';
