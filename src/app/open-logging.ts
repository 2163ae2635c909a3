import type { Environment } from '../config/environment.ts';
import { collectTexts, readReferencedSecrets } from '../config/named-secrets.ts';
import type { Config } from '../config/schema.ts';
import { readSecrets } from '../config/secrets.ts';
import { createRedactor } from '../lib/redaction.ts';
import type { RunInSpan } from '../lib/trace.ts';
import { type Log, openLog } from '../telemetry/log.ts';

/** The log and the traces of a command. */
export interface Logging {
  readonly log: Log;
  /** Records work as spans of traces. Null: traces are not exported. */
  readonly traced: RunInSpan | null;
  /**
   * Redacts the secrets of the environment and the secrets that a configuration references, in all later
   * lines. A secret stays redacted after a reload, because the log reports differences from the previous
   * configuration.
   */
  keepSecrets(config: Config | null): void;
  /** Flushes the exported traces and logs. */
  close(): Promise<void>;
}

/**
 * Opens the log and the traces of a command.
 * @param isExported true to export traces and logs if the environment sets an endpoint for them
 */
export async function openLogging(
  { otlp, logJson }: Environment,
  logLevel: string,
  isExported: boolean,
): Promise<Logging> {
  const telemetry =
    isExported && otlp
      ? await (await import('../telemetry/telemetry.ts')).openTelemetry(otlp, (signal, cause) =>
          logEndpointState(log, signal, cause),
        )
      : null;
  const secrets = new Set<string>();
  let redact = createRedactor([]);
  const log = openLog({ logLevel, logJson }, (text) => redact(text), telemetry?.line);
  return {
    log,
    traced: telemetry?.traced ?? null,
    keepSecrets: (config) => {
      const referenced = readReferencedSecrets(secretReferences(config)).values;
      for (const secret of [...readSecrets(), ...referenced]) secrets.add(secret);
      redact = createRedactor([...secrets]);
      telemetry?.redactBy(redact);
    },
    close: async () => telemetry?.close(),
  };
}

/** Returns the texts of a configuration that may reference secrets of the environment. */
export const secretReferences = (config: Config | null) => collectTexts([config?.alerts, config?.changes]);

function logEndpointState(log: Log, signal: 'traces' | 'logs', cause: string | null): void {
  if (cause === null) log.info({ signal }, 'the OpenTelemetry endpoint accepts data again');
  else
    log.warn(
      { signal, cause },
      'the OpenTelemetry endpoint does not accept data: traces and logs are dropped, and the recording continues; see OTEL_EXPORTER_OTLP_ENDPOINT',
    );
}
