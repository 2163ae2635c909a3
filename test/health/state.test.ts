import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WHOLE_PROBE } from '../../src/health/health-reading.ts';
import {
  applyObservation,
  type CheckReading,
  INITIAL_PROBE_STATE,
  type Observation,
  type ProbeState,
  type Transition,
} from '../../src/health/state.ts';

const second = 1_000;
const never = Number.POSITIVE_INFINITY;

const check = (name: string, more: Partial<CheckReading> = {}): CheckReading => ({
  name,
  state: 'up',
  error: null,
  message: null,
  timestamp: null,
  failingSince: null,
  failures: null,
  ...more,
});

/** Runs probes through the state machine. @returns the transitions, and the overall state at any moment */
function runProbes(
  probes: readonly (Partial<Observation> & Pick<Observation, 'at' | 'state'>)[],
  staleAfter = never,
) {
  let state = INITIAL_PROBE_STATE;
  const transitions: Transition[] = [];
  probes.forEach((probe, before) => {
    const result = applyObservation(state, { error: null, checks: [], before, ...probe }, staleAfter);
    state = result.state;
    transitions.push(...result.transitions);
  });
  const at = (moment: number, name = WHOLE_PROBE) =>
    transitions.filter((transition) => transition.check === name && transition.at <= moment).at(-1)?.state ??
    'not yet';
  return { transitions, state, at };
}

describe('a failure', () => {
  it('counts from its first probe, once a second one confirms it', () => {
    const { transitions } = runProbes([
      { at: 0, state: 'up' },
      { at: 60 * second, state: 'down', error: 'refused', checks: null },
      { at: 63 * second, state: 'down', error: 'refused', checks: null },
      { at: 120 * second, state: 'up' },
    ]);
    expect(
      transitions.map(({ at, state, error, reported }) => [at / second, state, error, reported]),
    ).toEqual([
      [0, 'up', null, true],
      [60, 'down', 'refused', false],
      [120, 'up', null, true],
    ]);
  });

  it('is not confirmed by a probe that follows at once', () => {
    const { transitions, state } = runProbes([
      { at: 0, state: 'down', error: 'a' },
      { at: 1_999, state: 'down', error: 'b' },
    ]);
    expect([transitions, state.suspect?.error]).toEqual([[], 'a']);
  });

  it('is pending in plain data, which a restart reads again', () => {
    const { state } = runProbes([{ at: 5, state: 'down', error: 'refused', checks: [check('C')] }]);
    const restored = { ...INITIAL_PROBE_STATE, suspect: JSON.parse(JSON.stringify(state.suspect)) };
    const { transitions } = applyObservation(
      restored,
      { at: 9_000, state: 'down', error: 'refused', checks: null, before: 1 },
      never,
    );
    expect(transitions[0]).toMatchObject({ at: 5, state: 'down' });
  });
});

describe('checks', () => {
  it('keep their own history, with the changed message of a failing one', () => {
    const failing = (peers: number, why = 'peers') => ({
      state: 'down' as const,
      error: 'failing: network',
      checks: [
        check('C'),
        check('network', { state: 'down', error: why, message: `{"connectedPeers":${peers},"is":"${why}"}` }),
      ],
    });
    const { transitions } = runProbes([
      { at: 0, state: 'up', checks: [check('C'), check('network')] },
      { at: 10 * second, ...failing(3) },
      { at: 13 * second, ...failing(2) },
      { at: 20 * second, ...failing(0, 'nobody') },
      { at: 30 * second, state: 'up', checks: [check('C'), check('network')] },
    ]);
    expect(
      transitions
        .filter((transition) => transition.check === 'network')
        .map(({ at, state, error, message }) => [at, state, error, message]),
    ).toEqual([
      [0, 'up', null, null],
      [10 * second, 'down', 'peers', '{"connectedPeers":3,"is":"peers"}'],
      [20 * second, 'down', 'nobody', '{"connectedPeers":0,"is":"nobody"}'],
      [30 * second, 'up', null, null],
    ]);
    expect(transitions.filter((transition) => transition.check === 'C')).toHaveLength(1);
  });

  it('whose timestamp does not change are stale, and the whole is not up any more', () => {
    const staleReading = (at: number) => ({
      at,
      state: 'up' as const,
      checks: [check('C', { timestamp: 'then' }), check('P', { timestamp: `${at}` })],
    });
    const { at, transitions } = runProbes(
      [
        staleReading(0),
        staleReading(60),
        staleReading(120),
        staleReading(180),
        { ...staleReading(240), checks: [check('C', { timestamp: 'now' })] },
      ],
      150,
    );
    expect([60, 120, 180, 240].map((moment) => at(moment))).toEqual(['up', 'up', 'unknown', 'up']);
    expect([120, 180, 240].map((moment) => at(moment, 'C'))).toEqual(['up', 'unknown', 'up']);
    expect(at(180, 'P')).toBe('up');
    expect(transitions.find(({ error }) => error === 'stale: C')).toMatchObject({
      check: WHOLE_PROBE,
      at: 180,
    });
  });

  it('that leave the report are unknown', () => {
    const { at } = runProbes([
      { at: 0, state: 'up', checks: [check('C'), check('old')] },
      { at: 60, state: 'up', checks: [check('C')] },
    ]);
    expect(at(60, 'old')).toBe('unknown');
  });
});

/** The behaviour of the node in a second; `lost` is a failure of the recorder. */
type Second = 'healthy' | 'unhealthy' | 'lost';

describe('any sequence of probes of a node', () => {
  const life = fc
    .array(
      fc.record({
        behaviour: fc.constantFrom<Second[]>('healthy', 'healthy', 'unhealthy', 'lost'),
        duration: fc.integer({ min: 1, max: 40 }),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map((parts) => parts.flatMap(({ behaviour, duration }) => Array<Second>(duration).fill(behaviour)));
  const states = { healthy: 'up', unhealthy: 'down', lost: 'unknown' } as const;

  it('has the states of an account second by second', () => {
    fc.assert(
      fc.property(
        life,
        fc.integer({ min: 5, max: 20 }),
        fc.integer({ min: 2, max: 5 }),
        (seconds, every, confirm) => {
          // Returns the probes as the prober plans them: one an interval, and one more after each new suspected
          // failure.
          const probes: { at: number; state: 'up' | 'down' | 'unknown' }[] = [];
          let state = INITIAL_PROBE_STATE;
          const transitions: Transition[] = [];
          let confirmAt = -1;
          for (let at = 0; at < seconds.length; at++) {
            if (at % every !== 0 && at !== confirmAt) continue;
            const probe = { at: at * second, state: states[seconds[at] ?? 'healthy'] };
            probes.push(probe);
            const result = applyObservation(
              state,
              { ...probe, error: null, checks: null, before: probes.length - 1 },
              never,
            );
            state = result.state;
            transitions.push(...result.transitions);
            if (state.suspect?.at === probe.at) confirmAt = at + confirm;
          }
          const stateAt = (moment: number) =>
            transitions.filter(({ at }) => at <= moment).at(-1)?.state ?? 'not yet';
          // The plain account: a failing probe counts if the node was down before it, or the next one agrees.
          const expected = probes.map((probe) => String(probe.state));
          for (let n = 0; n < probes.length; n++) {
            if (probes[n]?.state !== 'down' || expected[n - 1] === 'down') continue;
            const next = probes.find(
              (later, at) =>
                at > n && (later.state !== 'down' || later.at - (probes[n]?.at ?? 0) >= 2 * second),
            );
            if (next?.state === 'down') continue;
            expected[n] = next?.state === 'unknown' ? 'unknown' : (expected[n - 1] ?? 'not yet');
          }
          for (let at = 0; at < seconds.length; at++) {
            const n = probes.findLastIndex((probe) => probe.at <= at * second);
            expect(stateAt(at * second), `second ${at}`).toBe(expected[n]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('has transitions in order, each to another state', () => {
    fc.assert(
      fc.property(life, (seconds) => {
        const { transitions } = runProbes(
          seconds.map((behaviour, at) => ({ at: at * 5 * second, state: states[behaviour] })),
        );
        transitions.slice(1).forEach((transition, at) => {
          expect(transition.at).toBeGreaterThan(transitions[at]?.at ?? 0);
          expect(transition.state).not.toBe(transitions[at]?.state);
        });
      }),
    );
  });
});

describe('check names that change at each probe', () => {
  const check = (name: string, state: 'up' | 'down'): CheckReading => ({
    ...{ name, state, error: state === 'down' ? `${name} fails` : null, message: null },
    ...{ timestamp: null, failingSince: null, failures: null },
  });

  it('are recorded up to a bound, and beyond it as one check with the worst state', () => {
    let state: ProbeState = INITIAL_PROBE_STATE;
    const names = new Set<string>();
    let transitions = 0;
    for (let index = 0; index < 30; index += 1) {
      const checks = Array.from({ length: 400 }, (_, at) =>
        check(`probe ${index} check ${at}`, index >= 20 && at === 7 ? 'down' : 'up'),
      );
      const observation = { at: index * 10_000, state: 'up' as const, error: null, checks, before: index };
      const next = applyObservation(state, observation, Infinity);
      state = next.state;
      for (const one of next.transitions) names.add(one.check);
      if (index > 4) transitions += next.transitions.filter((one) => one.check !== '*').length;
    }
    expect(names.size).toBe(1_000 + 1);
    expect(names).toContain('(more)');
    // One transition from up to down, whatever the names of the failing checks are.
    expect(transitions).toBe(1);
    expect(state.verdicts.get('(more)')?.state).toBe('down');
  });
});
