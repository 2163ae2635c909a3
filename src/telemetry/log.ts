import { styleText } from 'node:util';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { readSecrets } from '../config/secrets.ts';
import { systemClock } from '../lib/clock.ts';
import { stderrBlock } from '../lib/live-block.ts';
import { timeOfDay } from '../lib/local-time.ts';
import { redactor } from '../lib/redaction.ts';
import { printable } from '../lib/safe-text.ts';
import { LogOutput } from './log-output.ts';

export type Log = Logger;

const stderr = new LogOutput(2, systemClock, (lines, since) => {
  const [time, first] = [systemClock(), since].map((moment) => new Date(moment).toISOString());
  const msg = 'lines of the log were lost: what it is written to was full, gone or too slow';
  return `${JSON.stringify({ level: pino.levels.values.warn, time, pid: process.pid, lines, since: first, msg })}\n`;
});

/** How many lines of the log this process could not write. On a terminal none is counted. */
export const linesLost = (): number => stderr.lost;

/**
 * The recorder's log on stderr, in the past tense, with fields: lines of JSON, or on a terminal lines for people. Secrets
 * are never fields. In addition, those of the environment are removed from every line, because errors of libraries may
 * contain what they were called with.
 * @param redact takes them out
 * @param also is given every line, in JSON, while the work that wrote it is the one at hand
 */
export function openLog(
  { logLevel, logJson }: { logLevel: string; logJson: boolean },
  redact = redactor(readSecrets()),
  also: (line: string) => void = () => {},
): Log {
  const options: LoggerOptions = {
    level: logLevel,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const toPeople = process.stderr.isTTY && !logJson;
  // A terminal that is closed takes its lines with it. Nobody else hears of that, and the process would end.
  if (toPeople) process.stderr.off('error', noted).on('error', noted);
  const write = (written: string) => {
    const raw = written.trimEnd();
    const line = stillJson(redact(raw), raw);
    if (toPeople) stderrBlock.line(readable(line));
    else stderr.write(`${printable(line)}\n`);
    also(line);
  };
  return pino(options, { write });
}

const noted = () => {};

/** A line without secrets as JSON. One of digits alone may have stood as a number: then what is left is told as the message. */
function stillJson(line: string, raw: string): string {
  if (line === raw) return line;
  try {
    JSON.parse(line);
    return line;
  } catch {
    const { level, time, pid }: Record<string, unknown> = JSON.parse(raw);
    return JSON.stringify({ level, time, pid, msg: line });
  }
}

/** A line of the log for people: local time, level, message and fields. */
export function readable(line: string): string {
  const { level, time, pid, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const grave = pino.levels.labels[Number(level)]?.toUpperCase() ?? '';
  const more = Object.entries(fields).flatMap(([name, value]) => shown(name, value));
  const when = timeOfDay(new Date(String(time)));
  const text = printable([when, grave.padEnd(5), msg ?? '', ...more].join(' ').trimEnd());
  const colour = Number(level) >= 50 ? 'red' : Number(level) >= 40 ? 'yellow' : null;
  return colour === null ? text : styleText(colour, text, { stream: process.stderr });
}

/** A field as NAME=VALUE, and what is in an object each as NAME.PART=VALUE. */
function shown(name: string, value: unknown): string[] {
  if (typeof value === 'string')
    return [`${name}=${/^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`];
  if (typeof value !== 'object' || value === null) return [`${name}=${String(value)}`];
  if ('stack' in value && 'message' in value) return [`${name}=${JSON.stringify(value.message)}`];
  if (Array.isArray(value)) return [`${name}=${listed(value)}`];
  return Object.entries(value).flatMap(([part, inner]) => shown(`${name}.${part}`, inner));
}

const MOST_LISTED = 4;
const listed = (values: readonly unknown[]) =>
  values.length > MOST_LISTED
    ? `${values.slice(0, MOST_LISTED).join(', ')}, … (${values.length})`
    : values.join(', ');
