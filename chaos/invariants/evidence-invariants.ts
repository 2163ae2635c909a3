import type { Invariant } from './invariant.ts';

/** Requires that a fault was observed where an invariant is about it. */
function unless(observed: readonly unknown[], what: string, problems: string[]): string[] {
  return observed.length === 0 ? [`${what} was not observed`] : problems;
}

/** E: within 60 s of the fault's end the lag is below two intervals, without manual help. */
export const recovered: Invariant = {
  letter: 'E',
  says: 'fresh again within 60 s of the fault, with no help',
  check: async ({ evidence: { recoveries } }) =>
    unless(
      recoveries,
      'a recovery',
      recoveries.flatMap(({ after, took }) =>
        took === null ? [`after ${after} not fresh within 60 s`] : [],
      ),
    ),
};

/** F: a fault longer than three intervals is visible in `status` and its exit code. */
export const shown: Invariant = {
  letter: 'F',
  says: 'a long fault shows in status and its exit code',
  check: async ({ evidence }) =>
    unless(
      evidence.shown,
      'a place that shows the fault',
      evidence.shown.flatMap(({ where, seen }) => (seen ? [] : [`not shown: ${where}`])),
    ),
};

/** K: every stall is reported in all places within three intervals or 60 s. */
export const told: Invariant = {
  letter: 'K',
  says: 'a stall is reported: freshness, status, doctor, a metric, the log',
  check: async ({ evidence }) =>
    unless(
      evidence.told,
      'a stall',
      evidence.told.flatMap(({ what, where, after }) =>
        after === null ? [`${what}: not reported in time by ${where}`] : [],
      ),
    ),
};

/** G: memory, log lines and requests stay within their limits. */
export const bounded: Invariant = {
  letter: 'G',
  says: 'memory, log lines and requests stay bounded',
  check: async ({ evidence }) =>
    unless(
      evidence.bounded,
      'a bounded value',
      evidence.bounded.flatMap(({ what, value, most }) =>
        value > most ? [`${what}: ${value}, more than ${most}`] : [],
      ),
    ),
};

/** X: exit codes and deadlines are as documented. */
export const ended: Invariant = {
  letter: 'X',
  says: 'exit codes and deadlines as promised',
  check: async ({ evidence }) =>
    unless(
      evidence.exits,
      'an exit',
      evidence.exits.flatMap(({ what, code, promised, took, within }) => [
        ...(code !== null && promised.includes(code)
          ? []
          : [`${what} ended with ${code}, not ${promised.join(' or ')}`]),
        ...(took <= within ? [] : [`${what} took ${took} ms, more than ${within}`]),
      ]),
    ),
};
