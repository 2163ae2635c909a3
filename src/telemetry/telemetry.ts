import { hostname } from 'node:os';
import { context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import {
  type AnyValue,
  type LogRecord,
  type Logger as OtelLogger,
  SeverityNumber,
} from '@opentelemetry/api-logs';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OtlpSettings } from '../config/otlp.ts';
import { toErrorMessage } from '../lib/errors.ts';
import type { RunInSpan } from '../lib/trace.ts';
import { readVersion } from '../lib/version.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { RedactingSpanExporter } from './redact-spans.ts';

const SCOPE = 'chain-recorder';
/** Timeout of the final flush, in ms. */
const FLUSH_TIMEOUT_MS = 2_000;

/** Export of traces and logs to an OTLP endpoint. Data that the endpoint does not accept is dropped. */
export interface Telemetry {
  readonly traced: RunInSpan;
  /** Exports a line of the log (JSON without secrets) with the trace of its async context. */
  readonly line: (line: string) => void;
  /** Sets the function that redacts secrets in spans. */
  redactBy(redact: (text: string) => string): void;
  /** Flushes buffered data, for at most {@link FLUSH_TIMEOUT_MS}, and ends the export. */
  close(): Promise<void>;
}

/**
 * A function that reports a change of whether the endpoint accepts data.
 * @param cause cause of the failure; null if the endpoint accepts data again
 */
export type EndpointReporter = (signal: 'traces' | 'logs', cause: string | null) => void;

/**
 * Starts the export of traces and logs. May be called once per process, because OpenTelemetry's context is
 * global.
 */
export async function openTelemetry(settings: OtlpSettings, report: EndpointReporter): Promise<Telemetry> {
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.version': readVersion(),
        'service.instance.id': `${hostname()}/${process.pid}`,
        'host.name': hostname(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ 'service.name': settings.service }));
  const exporters = await exportersOf(settings);
  const spans =
    exporters.traces &&
    new RedactingSpanExporter(
      new FailureReportingExporter(exporters.traces, (cause) => report('traces', cause)),
    );
  const records =
    exporters.logs && new FailureReportingExporter(exporters.logs, (cause) => report('logs', cause));
  const tracing = new TracerProvider({
    resource,
    sampler: samplerOf(settings.sampler),
    spanProcessors: spans ? [new BatchSpanProcessor({ exporter: spans })] : [],
  });
  const logging = new LoggerProvider({
    resource,
    processors: records ? [new BatchLogRecordProcessor({ exporter: records })] : [],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(tracing);
  return {
    traced: tracedBy(tracing.getTracer(SCOPE)),
    line: lineTo(logging.getLogger(SCOPE)),
    redactBy: (redact) => spans?.redactBy(redact),
    close: async () => {
      await withTimeout(FLUSH_TIMEOUT_MS, Promise.allSettled([tracing.shutdown(), logging.shutdown()]));
      trace.disable();
      propagation.disable();
      context.disable();
    },
  };
}

const tracedBy =
  (tracer: Tracer): RunInSpan =>
  ({ name, isClientCall, attributes = {} }, does) =>
    tracer.startActiveSpan(
      name,
      { kind: isClientCall ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes },
      async (span) => {
        const fail = (message: string) => span.setStatus({ code: SpanStatusCode.ERROR, message });
        try {
          return await does((more, failure) => {
            span.setAttributes(more);
            if (failure !== undefined) fail(failure);
          });
        } catch (error) {
          fail(toErrorMessage(error));
          throw error;
        } finally {
          span.end();
        }
      },
    );

const lineTo = (logger: OtelLogger) => (line: string) => logger.emit(toLogRecord(line));

/** Returns the sampler for OTEL_TRACES_SAMPLER. */
function samplerOf({ name, ratio }: OtlpSettings['sampler']): Sampler {
  const root = rootOf(name.replace('parentbased_', ''), ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootOf(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}

interface Exporters {
  readonly traces: SpanExporter | null;
  readonly logs: LogRecordExporter | null;
}

/** Creates the HTTP exporters for the protocol in the settings; null for a signal that is not exported. */
async function exportersOf({ protocol, headers, traces, logs }: OtlpSettings): Promise<Exporters> {
  const [{ OTLPTraceExporter }, { OTLPLogExporter }] =
    protocol === 'http/json'
      ? await Promise.all([
          import('@opentelemetry/exporter-trace-otlp-http'),
          import('@opentelemetry/exporter-logs-otlp-http'),
        ])
      : await Promise.all([
          import('@opentelemetry/exporter-trace-otlp-proto'),
          import('@opentelemetry/exporter-logs-otlp-proto'),
        ]);
  return {
    traces: traces === undefined ? null : new OTLPTraceExporter({ url: traces, headers }),
    logs: logs === undefined ? null : new OTLPLogExporter({ url: logs, headers }),
  };
}

/** OpenTelemetry's severities by Pino's levels. */
const SEVERITIES: Readonly<Record<number, readonly [SeverityNumber, string]>> = {
  10: [SeverityNumber.TRACE, 'TRACE'],
  20: [SeverityNumber.DEBUG, 'DEBUG'],
  30: [SeverityNumber.INFO, 'INFO'],
  40: [SeverityNumber.WARN, 'WARN'],
  50: [SeverityNumber.ERROR, 'ERROR'],
  60: [SeverityNumber.FATAL, 'FATAL'],
};

/**
 * Converts a line of the log, in JSON, to an OpenTelemetry log record: the message is the body, fields are
 * attributes.
 */
function toLogRecord(line: string): LogRecord {
  const { level, time, msg, pid: _, err, ...fields }: Record<string, AnyValue> = JSON.parse(line);
  const [severityNumber, severityText] = SEVERITIES[Number(level)] ?? [SeverityNumber.UNSPECIFIED, ''];
  return {
    timestamp: new Date(String(time)),
    severityNumber,
    severityText,
    body: msg ?? '',
    attributes: { ...fields, ...exceptionOf(err) },
  };
}

function exceptionOf(err: AnyValue): Record<string, AnyValue> {
  if (typeof err !== 'object' || err === null || !('message' in err)) return err === undefined ? {} : { err };
  const { type, message, stack } = err;
  return { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack };
}

/** The methods of an exporter of spans or log records that a batch processor calls. */
interface Exporter<T> {
  export(items: T[], done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

/**
 * An exporter that reports when its endpoint becomes unavailable, and when the endpoint is available again.
 * Each change is reported once. The processor always receives success, because dropped batches are not
 * retried.
 */
class FailureReportingExporter<T> implements Exporter<T> {
  readonly #exporter: Exporter<T>;
  readonly #report: (cause: string | null) => void;
  #failing = false;

  /** @param report receives the cause of the failure; null: the endpoint accepts batches again */
  constructor(exporter: Exporter<T>, report: (cause: string | null) => void) {
    this.#exporter = exporter;
    this.#report = report;
  }

  export(items: T[], done: (result: ExportResult) => void): void {
    this.#exporter.export(items, ({ code, error }) => {
      const failed = code !== ExportResultCode.SUCCESS;
      if (failed !== this.#failing) this.#report(failed ? toErrorMessage(error) : null);
      this.#failing = failed;
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
