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
const found: RuleFinding = { subject: 'n1', summary: 'n1 is down', since: null };

/** Rounds one minute apart. */
class Rounds {
  readonly told: (string | null)[] = [];
  alert: Alert | null = null;
  firedLately = 0;
  #now = Date.parse('2026-11-01T00:00:00Z');

  constructor(readonly rule: ConfiguredRule) {}

  go(said: RuleFinding | null, elapsed = minute): this {
    this.#now += minute;
    const moment = { now: new Date(this.#now), elapsed, firedLately: this.firedLately };
    const step: AlertTransition = this.alert
      ? advanceAlert(this.rule, this.alert, said, moment)
      : said
        ? startAlert(this.rule, said, 1, moment)
        : { alert: null, noticeKind: null };
    this.alert = step.alert?.state === 'resolved' ? null : step.alert;
    if (step.alert?.state === 'resolved') this.firedLately += 1;
    this.told.push(step.noticeKind);
    return this;
  }

  /** Repeats a value. */
  many(times: number, said: RuleFinding | null): this {
    for (let round = 0; round < times; round += 1) this.go(said);
    return this;
  }
}

describe('an alert', () => {
  it('is reported at once, and at its end, if its rule has no delay', () => {
    expect(new Rounds(scriptedRule()).go(found).go(found).go(null).told).toEqual([
      'firing',
      null,
      'resolved',
    ]);
  });

  it('is reported only after the delay of its rule, and never if it ends before', () => {
    const rule = scriptedRule({ for: 2 * minute });
    expect(new Rounds(rule).go(found).go(found).go(found).told).toEqual([null, null, 'firing']);
    const short = new Rounds(rule).go(found).go(found).go(null);
    expect([short.told, short.alert]).toEqual([[null, null, null], null]);
  });

  it('counts the time between rounds, whatever a clock that jumps shows', () => {
    const rule = scriptedRule({ for: 5 * minute });
    const jumped = new Rounds(rule).go(found).go(found, 0).go(found, minute);
    expect(jumped.told).toEqual([null, null, null]);
    expect(jumped.alert?.reportedMs).toBe(minute);
  });

  it('ends only after the end delay of its rule', () => {
    const rule = scriptedRule({ clear: 2 * minute });
    const rounds = new Rounds(rule).go(found).go(null).go(null).go(null);
    expect(rounds.told).toEqual(['firing', null, null, 'resolved']);
    expect(new Rounds(rule).go(found).go(null).go(null).go(found).go(null).told).toEqual([
      'firing',
      null,
      null,
      null,
      null,
    ]);
  });

  it('is reported again if its severity rises, not if it drops', () => {
    const heavier: RuleFinding = { ...found, severity: 'critical' };
    expect(new Rounds(scriptedRule()).go(found).go(heavier).go(found).go(found).told).toEqual([
      'firing',
      'firing',
      null,
      null,
    ]);
  });

  it('keeps its highest severity, so that every notified channel receives the end', () => {
    const heavier: RuleFinding = { ...found, severity: 'critical' };
    const rounds = new Rounds(scriptedRule()).go(found).go(heavier).go(found).go(heavier);
    expect(rounds.alert?.severity).toBe('critical');
    expect(rounds.told).toEqual(['firing', 'firing', null, null]);
  });

  it('is repeated while it fires and is not acknowledged', () => {
    const rounds = new Rounds(scriptedRule({ repeatInterval: 2 * minute })).many(6, found);
    expect(rounds.told).toEqual(['firing', null, 'reminder', null, 'reminder', null]);
    if (rounds.alert) rounds.alert = { ...rounds.alert, acknowledged: true };
    expect(rounds.many(4, found).told.slice(6)).toEqual([null, null, null, null]);
  });

  it('is unchanged while the state is unknown', () => {
    const unknown: RuleFinding = { ...found, unknown: true };
    const rounds = new Rounds(scriptedRule()).go(found).many(5, unknown);
    expect(rounds.told.slice(1)).toEqual([null, null, null, null, null]);
    expect(rounds.alert?.state).toBe('firing');
  });

  it('of an event has no end notification', () => {
    expect(new Rounds(scriptedRule({ event: true })).go(found).go(null).told).toEqual(['firing', null]);
  });

  it('flaps on its third start within an hour: it ends after half an hour without a start', () => {
    const rounds = new Rounds(scriptedRule());
    for (let time = 0; time < 5; time += 1) rounds.go(found).go(null);
    expect(rounds.told).toEqual([
      ...['firing', 'resolved', 'firing', 'resolved', 'firing', null],
      ...[null, null, null, null],
    ]);
    expect(rounds.alert?.flapping).toBe(true);
    const quiet = rounds.many(FLAPPING_CLEAR_MS / minute + 1, null).told.slice(10);
    expect(quiet.filter(Boolean)).toEqual(['resolved']);
    expect(quiet.indexOf('resolved')).toBe(FLAPPING_CLEAR_MS / minute - 1);
  });
});
