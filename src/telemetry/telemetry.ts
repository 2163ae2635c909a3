import { hostname } from 'node:os';
import { context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Logger as OtelLogger } from '@opentelemetry/api-logs';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OtlpSettings } from '../config/otlp.ts';
import { toErrorMessage } from '../lib/errors.ts';
import type { RunInSpan } from '../lib/trace.ts';
import { readVersion } from '../lib/version.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { exportersOf } from './exporters.ts';
import { FailureReportingExporter } from './failure-reports.ts';
import { toLogRecord } from './log-record.ts';
import { RedactingSpanExporter } from './redact-spans.ts';
import { samplerOf } from './samplers.ts';

const SCOPE = 'chain-recorder';
/** Timeout of the final flush, in ms. */
const FLUSH_TIMEOUT_MS = 2_000;

/**
 * Exports traces and logs to an OTLP endpoint. Data that the endpoint does not accept is dropped, never
 * waited for.
 */
export interface Telemetry {
  readonly traced: RunInSpan;
  /** Exports a line of the log (JSON without secrets) with the trace of its async context. */
  readonly line: (line: string) => void;
  /** Sets the function that redacts secrets in spans. */
  redactBy(redact: (text: string) => string): void;
  /** Flushes buffered data, for at most two seconds. */
  close(): Promise<void>;
}

/** Reports whether the endpoint accepts data. @param cause of the failure; null: it accepts data again */
export type EndpointReporter = (signal: 'traces' | 'logs', cause: string | null) => void;

/** Starts to export traces and logs. Only one per process: OpenTelemetry's context is global. */
export async function openTelemetry(settings: OtlpSettings, tell: EndpointReporter): Promise<Telemetry> {
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
      new FailureReportingExporter(exporters.traces, (cause) => tell('traces', cause)),
    );
  const records =
    exporters.logs && new FailureReportingExporter(exporters.logs, (cause) => tell('logs', cause));
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
