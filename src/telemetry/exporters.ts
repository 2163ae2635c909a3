import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { OtlpSettings } from '../config/otlp.ts';

interface Exporters {
  readonly traces: SpanExporter | null;
  readonly logs: LogRecordExporter | null;
}

/** Creates the HTTP exporters for the protocol in the settings; null for a signal that is not exported. */
export async function exportersOf({ protocol, headers, traces, logs }: OtlpSettings): Promise<Exporters> {
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
