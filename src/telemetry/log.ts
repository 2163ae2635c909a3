import { styleText } from 'node:util';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { readSecrets } from '../config/secrets.ts';
import { systemClock } from '../lib/clock.ts';
import { stderrBlock } from '../lib/live-block.ts';
import { formatTimeOfDay } from '../lib/local-time.ts';
import { createRedactor } from '../lib/redaction.ts';
import { escapeUnsafeText } from '../lib/safe-text.ts';
import { LogOutput } from './log-output.ts';

export type Log = Logger;

const stderr = new LogOutput(2, systemClock, (lines, since) => {
  const [time, first] = [systemClock(), since].map((moment) => new Date(moment).toISOString());
  const msg = 'lines of the log were lost: what it is written to was full, gone or too slow';
  return `${JSON.stringify({ level: pino.levels.values.warn, time, pid: process.pid, lines, since: first, msg })}\n`;
});

/** Returns the number of log lines that this process could not write. Lines to a terminal are not counted. */
export const linesLost = (): number => stderr.lost;

/**
 * Opens the recorder's log on stderr, with JSON lines, or readable lines on a terminal. Messages are in the
 * past tense, with fields. Secrets are never fields. In addition, the secrets of the environment are redacted
 * from every line, because errors of libraries may contain arguments.
 * @param redact redacts the secrets in a text
 * @param also receives every line, in JSON, in the async context that wrote it
 */
export function openLog(
  { logLevel, logJson }: { logLevel: string; logJson: boolean },
  redact = createRedactor(readSecrets()),
  also: (line: string) => void = () => {},
): Log {
  const options: LoggerOptions = {
    level: logLevel,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const toPeople = process.stderr.isTTY && !logJson;
  // Writes to a closed terminal fail. Without a listener, the error would end the process.
  if (toPeople) process.stderr.off('error', ignoreError).on('error', ignoreError);
  const write = (written: string) => {
    const raw = written.trimEnd();
    const line = ensureJson(redact(raw), raw);
    if (toPeople) stderrBlock.line(formatLogLine(line));
    else stderr.write(`${escapeUnsafeText(line)}\n`);
    also(line);
  };
  return pino(options, { write });
}

const ignoreError = () => {};

/**
 * Returns a redacted line as JSON. If the redaction of a JSON number makes the line invalid, the redacted
 * line becomes the message.
 */
function ensureJson(line: string, raw: string): string {
  if (line === raw) return line;
  try {
    JSON.parse(line);
    return line;
  } catch {
    const { level, time, pid }: Record<string, unknown> = JSON.parse(raw);
    return JSON.stringify({ level, time, pid, msg: line });
  }
}

/** Formats a line of the log for people: local time, level, message and fields. */
export function formatLogLine(line: string): string {
  const { level, time, pid, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const grave = pino.levels.labels[Number(level)]?.toUpperCase() ?? '';
  const more = Object.entries(fields).flatMap(([name, value]) => formatField(name, value));
  const when = formatTimeOfDay(new Date(String(time)));
  const text = escapeUnsafeText([when, grave.padEnd(5), msg ?? '', ...more].join(' ').trimEnd());
  const colour = Number(level) >= 50 ? 'red' : Number(level) >= 40 ? 'yellow' : null;
  return colour === null ? text : styleText(colour, text, { stream: process.stderr });
}

/** Formats a field as NAME=VALUE, and each property of an object as NAME.PART=VALUE. */
function formatField(name: string, value: unknown): string[] {
  if (typeof value === 'string')
    return [`${name}=${/^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`];
  if (typeof value !== 'object' || value === null) return [`${name}=${String(value)}`];
  if ('stack' in value && 'message' in value) return [`${name}=${JSON.stringify(value.message)}`];
  if (Array.isArray(value)) return [`${name}=${listed(value)}`];
  return Object.entries(value).flatMap(([part, inner]) => formatField(`${name}.${part}`, inner));
}

const MAX_LISTED_VALUES = 4;
const listed = (values: readonly unknown[]) =>
  values.length > MAX_LISTED_VALUES
    ? `${values.slice(0, MAX_LISTED_VALUES).join(', ')}, … (${values.length})`
    : values.join(', ');
