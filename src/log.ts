import { type Logger, pino } from 'pino';

export type Log = Logger;

/** The recorder's log: JSON lines on stderr, in the past tense, with fields. Secrets are never fields. */
export function openLog(level: string): Log {
  return pino(
    { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination(2),
  );
}
