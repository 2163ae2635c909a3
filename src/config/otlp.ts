import { toErrorMessage } from '../lib/errors.ts';

/** Settings of the export of OpenTelemetry traces and logs. */
export interface OtlpSettings {
  /** Service name of the sender. */
  readonly service: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Headers of each batch. The headers may contain secrets. */
  readonly headers: Record<string, string>;
  /** URL for posting traces; undefined: no traces are recorded. */
  readonly traces: string | undefined;
  /** URL for posting log records; undefined: no log records are sent. */
  readonly logs: string | undefined;
  readonly sampler: { readonly name: Sampler; readonly ratio: number };
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const EXPORTERS = ['otlp', 'none'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
type Sampler = (typeof SAMPLERS)[number];

/** Variables of the OpenTelemetry specification. */
export const OTLP_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about:
      'Base URL for traces and logs of `up` by OTLP over HTTP, such as http://127.0.0.1:4318: docs/reference/metrics.md.',
    absent: 'no traces, no logs',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    about: 'URL for traces.',
    absent: 'OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces',
  },
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: {
    about: 'URL for logs.',
    absent: 'OTEL_EXPORTER_OTLP_ENDPOINT with /v1/logs',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'Headers of the requests, as NAME=VALUE,NAME=VALUE in percent-encoding, such as an API key.',
    absent: 'nothing',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    about: 'Protocol.',
    preset: 'http/protobuf',
    values: PROTOCOLS,
  },
  OTEL_TRACES_EXPORTER: { about: 'Exporter of traces.', preset: 'otlp', values: EXPORTERS },
  OTEL_LOGS_EXPORTER: { about: 'Exporter of logs.', preset: 'otlp', values: EXPORTERS },
  OTEL_TRACES_SAMPLER: {
    about: 'Sampler of traces.',
    preset: 'parentbased_always_on',
    values: SAMPLERS,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'Share of traces, 0 to 1, for the samplers with `traceidratio`.',
    preset: '1',
  },
  OTEL_SERVICE_NAME: {
    about: 'Service name. OTEL_RESOURCE_ATTRIBUTES adds further attributes.',
    preset: 'chain-recorder',
  },
  OTEL_SDK_DISABLED: { about: '`true`: no traces, no logs.', preset: 'false' },
} as const;

type Name = keyof typeof OTLP_VARIABLES;

/**
 * Parses the variables of OpenTelemetry.
 * @param read returns the text of a variable, or undefined if it is not set
 * @param problems receives every problem; stays unchanged if the export is disabled
 * @returns undefined if the export is disabled
 */
export function parseOtlpSettings(
  read: (name: Name) => string | undefined,
  problems: string[],
): OtlpSettings | undefined {
  const found: string[] = [];
  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const place = (name: Name, path: string) => {
    const own = read(name);
    const url = own ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}${path}`);
    if (url !== undefined)
      rejectInvalidUrl(own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : name, url, found);
    return url;
  };
  const one = <Value extends string>(name: Name, values: readonly Value[], preset: Value): Value => {
    const text = read(name) ?? preset;
    const value = values.find((known) => known === text);
    if (value === undefined) found.push(`${name}: must be one of ${values.join(', ')}, not "${text}"`);
    return value ?? preset;
  };
  const signal = (exporter: Name, url: string | undefined) =>
    one(exporter, EXPORTERS, 'otlp') === 'none' ? undefined : url;
  const share = read('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^\d+(\.\d+)?(e-?\d+)?$/i.test(share) ? Number(share) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) found.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
  const settings = {
    service: read('OTEL_SERVICE_NAME') ?? OTLP_VARIABLES.OTEL_SERVICE_NAME.preset,
    protocol: one('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, 'http/protobuf'),
    headers: headersIn(read('OTEL_EXPORTER_OTLP_HEADERS') ?? '', found),
    traces: signal('OTEL_TRACES_EXPORTER', place('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '/v1/traces')),
    logs: signal('OTEL_LOGS_EXPORTER', place('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', '/v1/logs')),
    sampler: { name: one('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on'), ratio },
  };
  const isOff = read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (isOff || (settings.traces === undefined && settings.logs === undefined)) return undefined;
  problems.push(...found);
  return settings;
}

function rejectInvalidUrl(name: Name, text: string, problems: string[]): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const problem =
    url === null || !/^https?:$/.test(url.protocol)
      ? 'must be an http or https URL'
      : url.username || url.password
        ? 'must have no user and no password: send credentials in OTEL_EXPORTER_OTLP_HEADERS'
        : null;
  if (problem && !problems.includes(`${name}: ${problem}`)) problems.push(`${name}: ${problem}`);
}

function headersIn(text: string, problems: string[]): Record<string, string> {
  const pairs = splitHeaders(text);
  try {
    return Object.fromEntries(
      pairs.map(([name, value]) => {
        if (name === '') throw new Error('must be NAME=VALUE,NAME=VALUE');
        return [name, decodeURIComponent(value)];
      }),
    );
  } catch (error) {
    problems.push(`OTEL_EXPORTER_OTLP_HEADERS: ${toErrorMessage(error)}`);
    return {};
  }
}

/** Splits a text of headers into names and values, without decoding. */
export function splitHeaders(text: string): [name: string, value: string][] {
  return text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    });
}
