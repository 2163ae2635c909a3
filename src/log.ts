import { type Logger, type LoggerOptions, pino } from 'pino';
import { type Environment, readSecrets } from './config/environment.ts';
import { printable } from './printable.ts';
import { redactor } from './redaction.ts';

export type Log = Logger;

/**
 * The recorder's log on stderr, in the past tense, with fields: lines of JSON, or on a terminal lines for people. Secrets
 * are never fields. In addition, those of the environment are removed from every line, because errors of libraries may
 * contain what they were called with.
 */
export function openLog({ logLevel, logJson }: Pick<Environment, 'logLevel' | 'logJson'>): Log {
  const redact = redactor(readSecrets());
  const options: LoggerOptions = {
    level: logLevel,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (process.stderr.isTTY && !logJson)
    return pino(options, { write: (line) => void process.stderr.write(`${readable(redact(line))}\n`) });
  const streamWrite = (line: string) => `${printable(redact(line.trimEnd()))}\n`;
  return pino({ ...options, hooks: { streamWrite } }, pino.destination(2));
}

/** A line of the log for people: time, level, message and fields. */
export function readable(line: string): string {
  const { level, time, pid, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const grave = pino.levels.labels[Number(level)]?.toUpperCase() ?? '';
  const more = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  const when = String(time).slice(11, 19);
  return printable([when, grave.padEnd(5), msg ?? '', ...more].join(' ').trimEnd());
}

function shown(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value)
    return JSON.stringify(value.message);
  return JSON.stringify(value);
}
