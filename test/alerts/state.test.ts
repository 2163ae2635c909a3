import { describe, expect, it } from 'vitest';
import type { ConfiguredRule, RuleFinding } from '../../src/alerts/rule.ts';
import {
  type Alert,
  type AlertTransition,
  advanceAlert,
  FLAPPING_CLEAR_MS,
  startAlert,
} from '../../src/alerts/state.ts';
import { scriptedRule } from '../support/alerts.ts';

const minute = 60_000;
const finding: RuleFinding = { subject: 'n1', summary: 'n1 is down', since: null };

/** Rounds one minute apart. */
class Rounds {
  readonly noticeKinds: (string | null)[] = [];
  alert: Alert | null = null;
  firedLately = 0;
  #now = Date.parse('2026-11-01T00:00:00Z');

  constructor(readonly rule: ConfiguredRule) {}

  runRound(finding: RuleFinding | null, elapsed = minute): this {
    this.#now += minute;
    const moment = { now: new Date(this.#now), elapsed, firedLately: this.firedLately };
    const step: AlertTransition = this.alert
      ? advanceAlert(this.rule, this.alert, finding, moment)
      : finding
        ? startAlert(this.rule, finding, 1, moment)
        : { alert: null, noticeKind: null };
    this.alert = step.alert?.state === 'resolved' ? null : step.alert;
    if (step.alert?.state === 'resolved') this.firedLately += 1;
    this.noticeKinds.push(step.noticeKind);
    return this;
  }

  /** Repeats a value. */
  runRounds(times: number, finding: RuleFinding | null): this {
    for (let round = 0; round < times; round += 1) this.runRound(finding);
    return this;
  }
}

describe('an alert', () => {
  it('is reported at once, and at its end, if its rule has no delay', () => {
    expect(new Rounds(scriptedRule()).runRound(finding).runRound(finding).runRound(null).noticeKinds).toEqual(
      ['firing', null, 'resolved'],
    );
  });

  it('is reported only after the delay of its rule, and never if it ends before', () => {
    const rule = scriptedRule({ for: 2 * minute });
    expect(new Rounds(rule).runRound(finding).runRound(finding).runRound(finding).noticeKinds).toEqual([
      null,
      null,
      'firing',
    ]);
    const short = new Rounds(rule).runRound(finding).runRound(finding).runRound(null);
    expect([short.noticeKinds, short.alert]).toEqual([[null, null, null], null]);
  });

  it('counts the time between rounds, whatever a clock that jumps shows', () => {
    const rule = scriptedRule({ for: 5 * minute });
    const jumped = new Rounds(rule).runRound(finding).runRound(finding, 0).runRound(finding, minute);
    expect(jumped.noticeKinds).toEqual([null, null, null]);
    expect(jumped.alert?.reportedMs).toBe(minute);
  });

  it('ends only after the end delay of its rule', () => {
    const rule = scriptedRule({ clear: 2 * minute });
    const rounds = new Rounds(rule).runRound(finding).runRound(null).runRound(null).runRound(null);
    expect(rounds.noticeKinds).toEqual(['firing', null, null, 'resolved']);
    expect(
      new Rounds(rule).runRound(finding).runRound(null).runRound(null).runRound(finding).runRound(null)
        .noticeKinds,
    ).toEqual(['firing', null, null, null, null]);
  });

  it('keeps its highest severity, so that every notified channel receives the end', () => {
    const heavier: RuleFinding = { ...finding, severity: 'critical' };
    const rounds = new Rounds(scriptedRule())
      .runRound(finding)
      .runRound(heavier)
      .runRound(finding)
      .runRound(heavier);
    expect(rounds.alert?.severity).toBe('critical');
    expect(rounds.noticeKinds).toEqual(['firing', 'firing', null, null]);
  });

  it('is repeated while it fires and is not acknowledged', () => {
    const rounds = new Rounds(scriptedRule({ repeatInterval: 2 * minute })).runRounds(6, finding);
    expect(rounds.noticeKinds).toEqual(['firing', null, 'reminder', null, 'reminder', null]);
    if (rounds.alert) rounds.alert = { ...rounds.alert, acknowledged: true };
    expect(rounds.runRounds(4, finding).noticeKinds.slice(6)).toEqual([null, null, null, null]);
  });

  it('is unchanged while the state is unknown', () => {
    const unknown: RuleFinding = { ...finding, unknown: true };
    const rounds = new Rounds(scriptedRule()).runRound(finding).runRounds(5, unknown);
    expect(rounds.noticeKinds.slice(1)).toEqual([null, null, null, null, null]);
    expect(rounds.alert?.state).toBe('firing');
  });

  it('of an event has no end notification', () => {
    expect(new Rounds(scriptedRule({ event: true })).runRound(finding).runRound(null).noticeKinds).toEqual([
      'firing',
      null,
    ]);
  });

  it('flaps on its third start within an hour: it ends after half an hour without a start', () => {
    const rounds = new Rounds(scriptedRule());
    for (let time = 0; time < 5; time += 1) rounds.runRound(finding).runRound(null);
    expect(rounds.noticeKinds).toEqual([
      ...['firing', 'resolved', 'firing', 'resolved', 'firing', null],
      ...[null, null, null, null],
    ]);
    expect(rounds.alert?.flapping).toBe(true);
    const laterKinds = rounds.runRounds(FLAPPING_CLEAR_MS / minute + 1, null).noticeKinds.slice(10);
    expect(laterKinds.filter(Boolean)).toEqual(['resolved']);
    expect(laterKinds.indexOf('resolved')).toBe(FLAPPING_CLEAR_MS / minute - 1);
  });
});
