import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMaintenance, listOccurrences } from '../../src/health/maintenance.ts';
import type { NodeState, ProbeVerdict } from '../../src/health/state.ts';

const hour = 3_600_000;
const verdictOf = (state: NodeState): ProbeVerdict => ({ state, error: null, message: null });

describe('a recurring maintenance', () => {
  const sundays = { nodes: null, days: new Set([0]), at: 23 * hour, duration: 2 * hour };

  it('occurs on its days, also past midnight', () => {
    const windows = listOccurrences(sundays, Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 16));
    expect(windows.map(({ from, to }) => [new Date(from).toISOString(), (to - from) / hour])).toEqual([
      ['2026-11-01T23:00:00.000Z', 2],
      ['2026-11-08T23:00:00.000Z', 2],
      ['2026-11-15T23:00:00.000Z', 2],
    ]);
    expect(listOccurrences(sundays, Date.UTC(2026, 10, 2, 0, 30), Date.UTC(2026, 10, 2, 0, 40))).toHaveLength(
      1,
    );
    expect(listOccurrences(sundays, Date.UTC(2026, 10, 2, 2), Date.UTC(2026, 10, 8))).toEqual([]);
  });
});

describe('announced windows', () => {
  it('may be withdrawn or announced late: they count from the settled end of the ledger', () => {
    const window = { nodes: null, from: 20, to: 40 };
    const [started] = applyMaintenance(verdictOf('up'), verdictOf('up'), [], [window], 30, 31);
    expect(started).toMatchObject({ at: 30, verdict: { state: 'maintenance' } });
    const ended = applyMaintenance(
      verdictOf('up'),
      verdictOf('maintenance'),
      [],
      [{ ...window, to: 30 }],
      31,
      32,
    );
    expect(ended).toMatchObject([{ at: 31, verdict: { state: 'up' } }]);
  });

  it('count as an account moment by moment does, in steps of any size', () => {
    const states = fc.constantFrom<NodeState[]>('up', 'down', 'unknown');
    const transitions = fc.uniqueArray(fc.record({ at: fc.integer({ min: 1, max: 99 }), state: states }), {
      selector: ({ at }) => at,
      maxLength: 12,
    });
    const windows = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 40 })).map(([from, duration]) => ({
        nodes: null,
        from,
        to: from + duration,
      })),
      { maxLength: 4 },
    );
    const steps = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 5 });
    fc.assert(
      fc.property(states, transitions, windows, steps, (first, unsorted, announced, cuts) => {
        const probeTransitions = unsorted
          .sort((a, b) => a.at - b.at)
          .map(({ at, state }) => ({ at, verdict: verdictOf(state) }));
        const edges = [0, ...cuts.sort((a, b) => a - b), 100];
        let current = verdictOf(first);
        const applied = edges.slice(1).flatMap((to, n) => {
          const from = edges[n] ?? 0;
          const before = probeTransitions.findLast(({ at }) => at <= from)?.verdict ?? verdictOf(first);
          const now = probeTransitions.filter(({ at }) => at > from && at <= to);
          const transitions = applyMaintenance(before, current, now, announced, from, to);
          current = transitions.at(-1)?.verdict ?? current;
          return transitions;
        });
        const isInWindow = (at: number) => announced.some(({ from, to }) => from <= at && at < to);
        for (let at = 0; at <= 100; at++) {
          const probeState =
            probeTransitions.findLast((transition) => transition.at <= at)?.verdict.state ?? first;
          const result = applied.findLast((transition) => transition.at <= at)?.verdict.state ?? first;
          expect(result).toBe(isInWindow(at) ? 'maintenance' : probeState);
        }
      }),
    );
  });
});
