import { type AnyValue, type LogRecord, SeverityNumber } from '@opentelemetry/api-logs';

/** Pino's levels. */
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
export function toLogRecord(line: string): LogRecord {
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
