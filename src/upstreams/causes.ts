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
  readonly is: (symptom: Symptom, asked: DiagnosisContext) => boolean;
  readonly cause: (symptom: Symptom, asked: DiagnosisContext) => string;
  readonly fix: (symptom: Symptom, asked: DiagnosisContext) => string;
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
const TRUST_FIX = 'name the certificate of its authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem';

/** Causes in order of precedence, the most specific first. */
const CAUSES: readonly FailureCause[] = [
  {
    is: code('ENOTFOUND'),
    cause: (_, { url }) => `no host is called ${url.hostname}`,
    fix: (_, asked) =>
      `${correctSetting(asked)}, or add the name where this machine looks for names (DNS, /etc/hosts)`,
  },
  {
    is: code('EAI_AGAIN'),
    cause: (_, { url }) => `the name ${url.hostname} cannot be looked up now: DNS gives no answer`,
    fix: () => 'check the network of this machine and its name servers (/etc/resolv.conf)',
  },
  {
    is: code('ECONNREFUSED'),
    cause: (_, asked) => `nothing listens on ${hostOf(asked)}`,
    fix: (_, asked) =>
      asked.kind === 'node'
        ? `start the node, or ${correctSetting(asked)}: a node's API has port 9650 (9651 is for its peers), and on another machine it listens only with --http-host set`
        : `${correctSetting(asked)}: host and port`,
  },
  {
    is: code('EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'),
    cause: (_, asked) => `there is no way to ${hostOf(asked)} from here`,
    fix: (_, asked) =>
      `check the network, the VPN and the firewall of this machine, or ${correctSetting(asked)}`,
  },
  {
    is: ({ failed }) => failed === 'timeout',
    cause: (_, asked) => `${hostOf(asked)} gave no whole answer within ${asked.timeout} s`,
    fix: (_, asked) =>
      `let this machine through the firewall to ${hostOf(asked)}, or ${correctSetting(asked)}; of a slow one raise ${asked.setting.replace(/url$/, 'timeout')}`,
  },
  {
    is: code('DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'),
    cause: (_, asked) => `the certificate of ${hostOf(asked)} is self-signed, and nothing here trusts it`,
    fix: () => TRUST_FIX,
  },
  {
    is: code(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ),
    cause: (_, asked) => `the certificate of ${hostOf(asked)} is of an authority that nothing here trusts`,
    fix: () => `let the server send its whole chain of certificates, or ${TRUST_FIX}`,
  },
  {
    is: code('CERT_HAS_EXPIRED'),
    cause: (_, asked) => `the certificate of ${hostOf(asked)} has expired`,
    fix: () => 'renew it on the server; if it is valid, correct the clock of this machine',
  },
  {
    is: code('CERT_NOT_YET_VALID'),
    cause: (_, asked) => `the certificate of ${hostOf(asked)} is not valid yet`,
    fix: () => 'correct the clock of this machine: run NTP',
  },
  {
    is: code('ERR_TLS_CERT_ALTNAME_INVALID'),
    cause: (_, { url }) => `the certificate is not for the name ${url.hostname}`,
    fix: (_, asked) => `${correctSetting(asked)}: use the name that the certificate has`,
  },
  {
    is: code('ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'),
    cause: (_, asked) => `${hostOf(asked)} does not speak TLS`,
    fix: (_, asked) =>
      `${correctSetting(asked)}: write http:// instead of https://, or the port that has TLS`,
  },
  {
    is: ({ failed }) => failed === 'tls',
    cause: ({ code }, asked) => `the TLS handshake with ${hostOf(asked)} failed (${code})`,
    fix: () => 'check the certificate and the TLS settings of the server',
  },
  {
    is: (symptom) => status(400)(symptom) && hasMessage(/https? (request|server)|plain HTTP/i)(symptom),
    cause: (_, asked) => `${hostOf(asked)} speaks TLS, and was asked without it`,
    fix: (_, asked) => `${correctSetting(asked)}: write https:// instead of http://`,
  },
  {
    is: ({ failed }) => failed === 'reset',
    cause: (_, asked) => `${hostOf(asked)} closed the connection without an answer`,
    fix: (_, asked) => `${correctSetting(asked)}: it may be a port of another protocol, or want https://`,
  },
  {
    is: ({ failed }) => failed === 'malformed',
    cause: (_, asked) => `what ${hostOf(asked)} answers is not HTTP`,
    fix: (_, asked) => `${correctSetting(asked)}: the port is of another program`,
  },
  {
    is: ({ failed }) => failed !== null,
    cause: ({ words }, asked) => `${hostOf(asked)}: ${words}`,
    fix: (_, asked) => correctSetting(asked),
  },
  {
    is: (symptom) => status(403)(symptom) && hasMessage(/invalid host/i)(symptom),
    cause: (_, { url }) => `the node refuses the host name ${url.hostname}`,
    fix: (_, asked) =>
      `start the node with --http-allowed-hosts=${asked.url.hostname}, or name it by its address in ${asked.setting}`,
  },
  {
    is: (symptom) => status(503)(symptom) && hasMessage(/not done bootstrapping/i)(symptom),
    cause: () => 'the node is not bootstrapped yet: it does not answer about this chain',
    fix: () => 'wait: recording starts by itself once it has caught up with the network',
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null && !key.set,
    cause: (symptom) => `the service wants a key, and none is set (${symptom.status}${quoted(symptom)})`,
    fix: (_, { key, setting }) =>
      `set ${key?.variable} to your key${key?.header === undefined ? `, and ${setting.replace(/url$/, 'apiKeyHeader')} to the header that the service names` : ''}`,
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null && key.header === undefined,
    cause: ({ status }, { key, setting }) =>
      `the service wants a key (${status}), and ${key?.variable} is not sent, because ${setting.replace(/url$/, 'apiKeyHeader')} is missing`,
    fix: (_, { setting }) =>
      `set ${setting.replace(/url$/, 'apiKeyHeader')} to the header that the service names, such as x-glacier-api-key`,
  },
  {
    is: (symptom, { key }) => status(401, 403)(symptom) && key !== null,
    cause: (symptom, { key }) =>
      `the service refuses the key that was sent in ${key?.header} (${symptom.status}${quoted(symptom)})`,
    fix: (_, { key, setting }) =>
      `correct ${key?.variable}, or ${setting.replace(/url$/, 'apiKeyHeader')} where the service wants another header`,
  },
  {
    is: status(401, 403),
    cause: (symptom) => `access is refused (${symptom.status}${quoted(symptom)})`,
    fix: (_, asked) => `let this machine in: the node, or the proxy before it, refuses ${asked.url.pathname}`,
  },
  {
    is: status(407),
    cause: (_, asked) => `a proxy before ${hostOf(asked)} wants its own password`,
    fix: () => 'let this machine past the proxy',
  },
  {
    is: status(429),
    cause: ({ retryAfter }, asked) =>
      `${hostOf(asked)} answers 429: too many calls${retryAfter === null ? '' : `; it asks us to wait ${Math.ceil(retryAfter / 1000)} s`}`,
    fix: (_, asked) =>
      asked.kind === 'service'
        ? `wait, and set ${asked.setting.replace(/url$/, 'budget')} to what your plan allows ("chain-recorder plan" shows what is asked)`
        : 'wait, use a node of your own, or record less often (datasets.D.every)',
  },
  {
    is: ({ status }) => status >= 300 && status < 400,
    cause: ({ status, location }) =>
      `it redirects (${status})${location === null ? '' : ` to ${location.origin}${location.pathname}`}, and redirects are not followed, because they would carry the key along`,
    fix: (_, asked) => `set ${asked.setting} to where the API itself is`,
  },
  {
    is: ({ type }) => /html/.test(type),
    cause: (symptom, asked) =>
      `${hostOf(asked)} answers with a web page instead of JSON (${symptom.status}): a proxy, a login page or a website`,
    fix: (_, asked) => `${correctSetting(asked)}: the API's own address, behind no login`,
  },
  {
    is: (symptom) => symptom.kind === 'unsupported' || hasMessage(/not available|is disabled/i)(symptom),
    cause: (symptom) => `it does not offer this method${quoted(symptom)}`,
    fix: () =>
      'nothing has to be done: what it does not offer is noted once, and everything else is recorded',
  },
  {
    is: status(404, 410),
    cause: (symptom, asked) =>
      `there is no ${asked.url.pathname} on ${hostOf(asked)} (${symptom.status}${quoted(symptom)})`,
    fix: (_, asked) =>
      asked.kind === 'node'
        ? `${correctSetting(asked)}: it ends before /ext, such as http://host:9650`
        : `${correctSetting(asked)}: it ends before /v1 or /v2; behind a gateway it has the gateway's path`,
  },
  {
    is: ({ status }) => status >= 500,
    cause: (symptom, asked) => `${hostOf(asked)} fails itself (${symptom.status}${quoted(symptom)})`,
    fix: (_, asked) =>
      asked.kind === 'node' ? 'read the log of the node' : 'wait: what is missed is fetched later',
  },
  {
    is: ({ status }) => status >= 400,
    cause: (symptom) => `the question is refused (${symptom.status}${quoted(symptom)})`,
    fix: (_, asked) => correctSetting(asked),
  },
  {
    is: () => true,
    cause: (symptom, asked) =>
      `${hostOf(asked)} answers something else than this API (${symptom.status}${quoted(symptom)})`,
    fix: (_, asked) => correctSetting(asked),
  },
];

/** Returns the cause and the fix of a wrong or missing response, by the most specific matching rule. */
export function diagnose(symptom: Symptom, asked: DiagnosisContext): Diagnosis {
  const found = CAUSES.find(({ is }) => is(symptom, asked));
  if (!found) throw new Error('no cause matches: the last cause must match everything');
  return { cause: found.cause(symptom, asked), fix: found.fix(symptom, asked) };
}

/**
 * Returns likely corrections of a URL without a response: the target of a redirect, another scheme, the port
 * of the node, or the URL without the path of the API.
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
