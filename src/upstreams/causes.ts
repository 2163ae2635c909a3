import type { Symptom } from './symptom.ts';

/** Facts about an upstream whose response was wrong or missing. */
export interface DiagnosisContext {
  /** Requested URL, with the path of the API. */
  readonly url: URL;
  /** Setting that contains the URL, such as `upstreams.nodes[0].url`. */
  readonly setting: string;
  readonly kind: 'node' | 'service';
  /** Environment variable and header of the API key. Null: the upstream has none. */
  readonly key: {
    readonly variable: string;
    readonly header: string | undefined;
    readonly set: boolean;
  } | null;
  /** Timeout of the response, in seconds. */
  readonly timeout: number;
}

/** Cause of a wrong or missing response, and the fix. */
export interface Diagnosis {
  readonly cause: string;
  readonly fix: string;
}

interface FailureCause {
  readonly is: (symptom: Symptom, context: DiagnosisContext) => boolean;
  readonly cause: (symptom: Symptom, context: DiagnosisContext) => string;
  readonly fix: (symptom: Symptom, context: DiagnosisContext) => string;
}

const code =
  (...codes: readonly string[]) =>
  (symptom: Symptom) =>
    codes.includes(symptom.code);
const status =
  (...statuses: readonly number[]) =>
  (symptom: Symptom) =>
    statuses.includes(symptom.status);
const hasMessage = (words: RegExp) => (symptom: Symptom) => words.test(symptom.words);

const hostOf = ({ url }: DiagnosisContext) => url.host;
const correctSetting = ({ setting }: DiagnosisContext) => `correct ${setting}`;
const quoted = ({ words }: Symptom) => (words === '' ? '' : `: "${words.split('\n')[0]}"`);
const TRUST_FIX = 'set NODE_EXTRA_CA_CERTS=/path/to/ca.pem to the certificate of its authority';

/** Causes in order of precedence, the most specific first. */
const CAUSES: readonly FailureCause[] = [
  {
    is: code('ENOTFOUND'),
    cause: (_, { url }) => `the host name ${url.hostname} cannot be resolved`,
    fix: (_, context) => `${correctSetting(context)}, or add the name to DNS or /etc/hosts`,
  },
  {
    is: code('EAI_AGAIN'),
    cause: (_, { url }) => `the host name ${url.hostname} cannot be resolved now: DNS does not respond`,
    fix: () => 'check the network of this machine and its name servers (/etc/resolv.conf)',
  },
  {
    is: code('ECONNREFUSED'),
    cause: (_, context) => `nothing listens on ${hostOf(context)}`,
    fix: (_, context) =>
      context.kind === 'node'
        ? `start the node, or ${correctSetting(context)}: the API of a node has port 9650 (port 9651 is for peers), and accepts calls from other machines only if the node runs with --http-host`
        : `${correctSetting(context)}: host and port`,
  },
  {
    is: code('EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'),
    cause: (_, context) => `${hostOf(context)} cannot be reached from this machine: no route`,
    fix: (_, context) =>
      `check the network, the VPN and the firewall of this machine, or ${correctSetting(context)}`,
  },
  {
    is: ({ failed }) => failed === 'timeout',
    cause: (_, context) => `${hostOf(context)} sent no complete response within ${context.timeout} s`,
    fix: (_, context) =>
      `allow connections from this machine to ${hostOf(context)} in the firewall, or ${correctSetting(context)}; for a slow service raise ${context.setting.replace(/url$/, 'timeout')}`,
  },
  {
    is: code('DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'),
    cause: (_, context) =>
      `the certificate of ${hostOf(context)} is self-signed and not trusted by this machine`,
    fix: () => TRUST_FIX,
  },
  {
    is: code(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ),
    cause: (_, context) =>
      `the certificate of ${hostOf(context)} was issued by an authority that this machine does not trust`,
    fix: () => `configure the server to send its full certificate chain, or ${TRUST_FIX}`,
  },
  {
    is: code('CERT_HAS_EXPIRED'),
    cause: (_, context) => `the certificate of ${hostOf(context)} has expired`,
    fix: () => 'renew the certificate on the server; if it is valid, correct the clock of this machine',
  },
  {
    is: code('CERT_NOT_YET_VALID'),
    cause: (_, context) => `the certificate of ${hostOf(context)} is not valid yet`,
    fix: () => 'correct the clock of this machine: run NTP',
  },
  {
    is: code('ERR_TLS_CERT_ALTNAME_INVALID'),
    cause: (_, { url }) => `the certificate is not for the name ${url.hostname}`,
    fix: (_, context) => `${correctSetting(context)}: use a host name of the certificate`,
  },
  {
    is: code('ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'),
    cause: (_, context) => `${hostOf(context)} does not support TLS`,
    fix: (_, context) => `${correctSetting(context)}: write http:// instead of https://, or the port for TLS`,
  },
  {
    is: ({ failed }) => failed === 'tls',
    cause: ({ code }, context) => `the TLS handshake with ${hostOf(context)} failed (${code})`,
    fix: () => 'check the certificate and the TLS settings of the server',
  },
  {
    is: (symptom) => status(400)(symptom) && hasMessage(/https? (request|server)|plain HTTP/i)(symptom),
    cause: (_, context) => `${hostOf(context)} requires TLS, and the request was sent without it`,
    fix: (_, context) => `${correctSetting(context)}: write https:// instead of http://`,
  },
  {
    is: ({ failed }) => failed === 'reset',
    cause: (_, context) => `${hostOf(context)} closed the connection without an answer`,
    fix: (_, context) => `${correctSetting(context)}: the port may use another protocol, or require https://`,
  },
  {
    is: ({ failed }) => failed === 'malformed',
    cause: (_, context) => `the response of ${hostOf(context)} is not HTTP`,
    fix: (_, context) => `${correctSetting(context)}: another program uses this port`,
  },
  {
    is: ({ failed }) => failed !== null,
    cause: ({ words }, context) => `${hostOf(context)}: ${words}`,
    fix: (_, context) => correctSetting(context),
  },
  {
    is: (symptom) => status(403)(symptom) && hasMessage(/invalid host/i)(symptom),
    cause: (_, { url }) => `the node refuses the host name ${url.hostname}`,
    fix: (_, context) =>
      `start the node with --http-allowed-hosts=${context.url.hostname}, or use its IP address in ${context.setting}`,
  },
  {
    is: (symptom) => status(503)(symptom) && hasMessage(/not done bootstrapping/i)(symptom),
    cause: () => 'the node is not bootstrapped yet: it does not respond to requests about this chain',
    fix: () => 'wait: the recording starts automatically once the node has caught up with the network',
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null && !key.set,
    cause: (symptom) => `the service requires a key, and none is set (${symptom.status}${quoted(symptom)})`,
    fix: (_, { key, setting }) =>
      `set ${key?.variable} to your key${key?.header === undefined ? `, and ${setting.replace(/url$/, 'apiKeyHeader')} to the header that the service names` : ''}`,
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null && key.header === undefined,
    cause: ({ status }, { key, setting }) =>
      `the service requires a key (${status}), and ${key?.variable} is not sent, because ${setting.replace(/url$/, 'apiKeyHeader')} is missing`,
    fix: (_, { setting }) =>
      `set ${setting.replace(/url$/, 'apiKeyHeader')} to the header that the service names, such as x-glacier-api-key`,
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null,
    cause: (symptom, { key }) =>
      `the service refuses the key that was sent in ${key?.header} (${symptom.status}${quoted(symptom)})`,
    fix: (_, { key, setting }) =>
      `correct ${key?.variable}, or ${setting.replace(/url$/, 'apiKeyHeader')} if the service requires another header`,
  },
  {
    is: status(401, 403),
    cause: (symptom) => `access is refused (${symptom.status}${quoted(symptom)})`,
    fix: (_, context) =>
      `allow access from this machine: the node, or the proxy in front of it, refuses ${context.url.pathname}`,
  },
  {
    is: status(407),
    cause: (_, context) => `a proxy in front of ${hostOf(context)} requires authentication`,
    fix: () => 'configure the proxy to accept this machine without a password',
  },
  {
    is: status(429),
    cause: ({ retryAfter }, context) =>
      `${hostOf(context)} returns 429: too many calls${retryAfter === null ? '' : `; it requires a pause of ${Math.ceil(retryAfter / 1000)} s`}`,
    fix: (_, context) =>
      context.kind === 'service'
        ? `wait, and set ${context.setting.replace(/url$/, 'budget')} to what your plan allows ("chain-recorder plan" shows the planned requests)`
        : 'wait, use a node of your own, or record less often (datasets.D.every)',
  },
  {
    is: ({ status }) => status >= 300 && status < 400,
    cause: ({ status, location }, context) =>
      `${hostOf(context)} redirects (${status})${location === null ? '' : ` to ${location.origin}${location.pathname}`}, and redirects are not followed, because the key would be sent along`,
    fix: (_, context) => `set ${context.setting} to the URL of the API itself`,
  },
  {
    is: ({ type }) => /html/.test(type),
    cause: (symptom, context) =>
      `${hostOf(context)} returns a web page instead of JSON (${symptom.status}): a proxy, a login page or a website`,
    fix: (_, context) => `${correctSetting(context)}: use the URL of the API itself, which needs no login`,
  },
  {
    is: (symptom) => symptom.kind === 'unsupported' || hasMessage(/not available|is disabled/i)(symptom),
    cause: (symptom, context) => `${hostOf(context)} does not offer this method${quoted(symptom)}`,
    fix: () => 'no action is needed: missing methods are reported once, and everything else is recorded',
  },
  {
    is: status(404, 410),
    cause: (symptom, context) =>
      `there is no ${context.url.pathname} on ${hostOf(context)} (${symptom.status}${quoted(symptom)})`,
    fix: (_, context) =>
      context.kind === 'node'
        ? `${correctSetting(context)}: the URL must end before /ext, such as http://host:9650`
        : `${correctSetting(context)}: the URL must end before /v1 or /v2; behind a gateway it has the path of the gateway`,
  },
  {
    is: ({ status }) => status >= 500 && status < 600,
    cause: (symptom, context) =>
      `${hostOf(context)} has an internal error (${symptom.status}${quoted(symptom)})`,
    fix: (_, context) =>
      context.kind === 'node' ? 'read the log of the node' : 'wait: missing data is fetched later',
  },
  {
    is: ({ status }) => status >= 400,
    cause: (symptom) => `the request is refused (${symptom.status}${quoted(symptom)})`,
    fix: (_, context) => correctSetting(context),
  },
  {
    is: () => true,
    cause: (symptom, context) =>
      `${hostOf(context)} does not respond like this API (${symptom.status}${quoted(symptom)})`,
    fix: (_, context) => correctSetting(context),
  },
];

/** Returns the cause and the fix of a wrong or missing response, by the most specific matching rule. */
export function diagnose(symptom: Symptom, context: DiagnosisContext): Diagnosis {
  const found = CAUSES.find(({ is }) => is(symptom, context));
  if (!found) throw new Error('no cause matches: the last cause must match everything');
  return { cause: found.cause(symptom, context), fix: found.fix(symptom, context) };
}

/**
 * Returns likely corrections of a URL at which the API does not respond: the target of a redirect, another
 * scheme, the port of the node, or the URL without the path of the API.
 */
export function likelyUrls(text: string, kind: DiagnosisContext['kind'], location: URL | null): string[] {
  const url = new URL(text);
  const changed = (change: (one: URL) => void): string => {
    const one = new URL(text);
    change(one);
    return one.href.replace(/\/$/, '');
  };
  const withoutApi = url.pathname.replace(/\/(ext|v1|v2)(\/.*)?$/, '');
  const path = changed((one) => {
    one.pathname = withoutApi;
  });
  const scheme = changed((one) => {
    one.protocol = url.protocol === 'https:' ? 'http:' : 'https:';
  });
  const port = changed((one) => {
    one.port = '9650';
    one.protocol = 'http:';
    one.pathname = withoutApi;
  });
  const once = changed((one) => {
    one.pathname = withoutApi.replace(/^((?:\/[^/]+)+)\1+$/, '$1'); // a path that was pasted twice
  });
  const target = location === null ? [] : [`${location.origin}${withoutApi}`.replace(/\/$/, '')];
  const all = [...target, path, once, url.origin, scheme, ...(kind === 'node' ? [port] : [])];
  return [...new Set(all)].filter((one) => one !== url.href.replace(/\/$/, ''));
}
