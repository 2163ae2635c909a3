import type { Invariant } from './invariant.ts';

/** Requires that a fault was observed where an invariant is about it. */
function requireObserved(observed: readonly unknown[], what: string, problems: string[]): string[] {
  return observed.length === 0 ? [`${what} was not observed`] : problems;
}

/** E: within 60 s of the fault's end the lag is below two intervals, without manual help. */
export const recovered: Invariant = {
  letter: 'E',
  description: 'fresh again within 60 s of the fault, with no help',
  check: async ({ evidence: { recoveries } }) =>
    requireObserved(
      recoveries,
      'a recovery',
      recoveries.flatMap(({ after, elapsedMs }) =>
        elapsedMs === null ? [`after ${after} not fresh within 60 s`] : [],
      ),
    ),
};

/** F: a fault longer than three intervals is visible in `status` and its exit code. */
export const reportedFaults: Invariant = {
  letter: 'F',
  description: 'a long fault shows in status and its exit code',
  check: async ({ evidence }) =>
    requireObserved(
      evidence.indicators,
      'a place that shows the fault',
      evidence.indicators.flatMap(({ where, isVisible }) => (isVisible ? [] : [`not visible: ${where}`])),
    ),
};

/** K: every stall is reported in all places within three intervals or 60 s. */
export const reportedStalls: Invariant = {
  letter: 'K',
  description: 'a stall is reported: freshness, status, doctor, a metric, the log',
  check: async ({ evidence }) =>
    requireObserved(
      evidence.stallReports,
      'a stall',
      evidence.stallReports.flatMap(({ what, where, delayMs }) =>
        delayMs === null ? [`${what}: not reported in time by ${where}`] : [],
      ),
    ),
};

/** G: memory, log lines and requests stay within their limits. */
export const bounded: Invariant = {
  letter: 'G',
  description: 'memory, log lines and requests stay bounded',
  check: async ({ evidence }) =>
    requireObserved(
      evidence.bounded,
      'a bounded value',
      evidence.bounded.flatMap(({ what, value, max }) =>
        value > max ? [`${what}: ${value}, more than ${max}`] : [],
      ),
    ),
};

/** X: exit codes and deadlines are as documented. */
export const ended: Invariant = {
  letter: 'X',
  description: 'exit codes and deadlines as promised',
  check: async ({ evidence }) =>
    requireObserved(
      evidence.exits,
      'an exit',
      evidence.exits.flatMap(({ what, code, expectedCodes, elapsedMs, limitMs }) => [
        ...(code !== null && expectedCodes.includes(code)
          ? []
          : [`${what} ended with ${code}, not ${expectedCodes.join(' or ')}`]),
        ...(elapsedMs <= limitMs ? [] : [`${what} took ${elapsedMs} ms, more than ${limitMs}`]),
      ]),
    ),
};
