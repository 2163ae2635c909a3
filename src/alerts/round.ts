import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { ormOf } from '../db/orm.ts';
import { targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import type { AlertContext } from './context.ts';
import {
  type AlertNotice,
  computeRoundChanges,
  type RoundChanges,
  type RuleResult,
} from './evaluate-rules.ts';
import { groupIntoBodies } from './message.ts';
import { type RoutedMessage, routeMessage } from './message-routing.ts';
import { openAlerts } from './open-alerts.ts';
import { findAddedChannels, findNotifiedChannels } from './outbox.ts';
import { type EvaluationResult, evaluateRule } from './rule-context.ts';
import { type Alert, FLAPPING_WINDOW_MS, isEnd } from './state.ts';

/** Length of the lease of a round, in s. After this time without renewal, the next round can start. */
const LEASE_SECONDS = 60;
/** Maximum elapsed time that counts for a rule, in intervals. */
const MAX_ELAPSED_INTERVALS = 3;

/** Result of a round. */
export interface RoundResult {
  /** Number of evaluated rules. */
  readonly evaluated: number;
  /** Errors of rules whose evaluation failed. */
  readonly failed: readonly { readonly rule: string; readonly error: string }[];
  readonly notices: readonly AlertNotice[];
}

/**
 * Evaluates every due rule, computes the new state of the alerts, and stores this state together with the
 * messages. One statement, fenced by the number of the round, writes everything, so that two workers never
 * send the same message.
 * @returns null if another round is running, or the lease of this round was lost
 */
export async function runRound(context: AlertContext, signal: AbortSignal): Promise<RoundResult | null> {
  const { sql, reader, clock, config, rules, facts, sender } = context;
  const round = await claimRound(sql, sender.recorder, config.every);
  if (round === null) return null;
  const now = new Date(clock());
  const evaluatedAt = await loadEvaluationTimes(sql, sender.recorder);
  const answers = new Map<string, RuleResult>();
  const notes: { rule: string; result: EvaluationResult }[] = [];
  for (const rule of rules) {
    const last = evaluatedAt.get(rule.name);
    const passed = last === undefined ? 0 : now.getTime() - last;
    // Timers are not exact to the millisecond. A moment in the future was written by a clock that was ahead.
    if (last !== undefined && passed >= 0 && passed < rule.every - config.every / 2) continue;
    // The timeout of one rule is shorter than the lease; all rules together may take longer.
    if (!(await renewRound(sql, sender.recorder, round))) return null;
    const result = await evaluateRule(rule, now, { reader, facts, past: false, signal });
    if (signal.aborted) return null;
    notes.push({ rule: rule.name, result });
    const most = MAX_ELAPSED_INTERVALS * Math.max(rule.every, config.every);
    if ('found' in result)
      answers.set(rule.name, { found: result.found, elapsed: Math.min(Math.max(passed, 0), most) });
  }
  const { open, lately } = await loadAlerts(sql, sender.recorder, now);
  const fresh = [...answers.values()].reduce((sum, { found }) => sum + found.length, 0);
  const ids = fresh === 0 ? [] : await newIds(sql, fresh);
  const judged = computeRoundChanges({
    rules,
    answers,
    open,
    unwatched: await findUnwatched(context, open),
    firedLately: (rule, subject) => lately.get(`${rule} ${subject}`) ?? 0,
    now,
    nextId: () => ids.shift() ?? Number.NaN,
  });
  const over = judged.notices.flatMap(({ alert, kind }) => (isEnd(kind) ? [alert.id] : []));
  const wasNotified = await findNotifiedChannels(sql, sender.recorder, over);
  const added = await findAddedChannels(sql, sender.recorder, config.channels);
  const messages = [
    ...groupIntoBodies(added.length > 0 ? findFormerNotices(open, judged) : [], rules, sender, now).flatMap(
      (body) => routeMessage({ config: { ...config, channels: added }, rules }, body, () => false),
    ),
    ...groupIntoBodies(judged.notices, rules, sender, now).flatMap((body) =>
      routeMessage(context, body, wasNotified),
    ),
  ];
  const failed = notes.flatMap(({ rule, result }) =>
    'error' in result ? [{ rule, error: result.error }] : [],
  );
  const written = await write(sql, sender.recorder, round, now, { judged, messages, notes, names: context });
  return written ? { evaluated: notes.length, failed, notices: judged.notices } : null;
}

/**
 * Claims the next round if no round is running.
 * @returns the number of the round; null if another round is running
 */
async function claimRound(sql: postgres.Sql, recorder: string, every: number): Promise<number | null> {
  const [row] = await sql<{ round: string }[]>`
    insert into recorder.alert_rounds as r (recorder, round, lease_until, every_ms)
    values (${recorder}, 1, now() + make_interval(secs => ${LEASE_SECONDS}), ${every})
    on conflict (recorder) do update set round = r.round + 1, every_ms = excluded.every_ms, lease_until = excluded.lease_until
    where r.lease_until is null or r.lease_until < now()
      -- A lease that ends later than this was set before the clock was set back.
      or r.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    returning round`;
  return row ? Number(row.round) : null;
}

/**
 * Renews the lease of a round.
 * @returns false if another round took it over
 */
async function renewRound(sql: postgres.Sql, recorder: string, round: number): Promise<boolean> {
  const rows = await sql`
    update recorder.alert_rounds set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where recorder = ${recorder} and round = ${round} returning 1`;
  return rows.length === 1;
}

async function loadEvaluationTimes(sql: postgres.Sql, recorder: string): Promise<Map<string, number>> {
  const rows = await sql<{ rule: string; evaluated_at: Date }[]>`
    select rule, evaluated_at from recorder.alert_rules where recorder = ${recorder} and evaluated_at is not null`;
  return new Map(rows.map(({ rule, evaluated_at }) => [rule, evaluated_at.getTime()]));
}

async function newIds(sql: postgres.Sql, count: number): Promise<number[]> {
  const rows = await sql<{ id: string }[]>`
    select nextval(pg_get_serial_sequence('recorder.alerts', 'id')) as id from generate_series(1, ${count})`;
  return rows.map(({ id }) => Number(id));
}

/** Loads the unresolved alerts, and the number of recently resolved firings of each rule and subject. */
async function loadAlerts(sql: postgres.Sql, recorder: string, now: Date) {
  const lately = await sql<{ rule: string; subject: string; times: number }[]>`
    select rule, subject, count(*)::int as times from recorder.alerts
    where recorder = ${recorder} and state = 'resolved' and resolved_at > ${new Date(now.getTime() - FLAPPING_WINDOW_MS)}
      and fired_at > ${new Date(now.getTime() - FLAPPING_WINDOW_MS)}
    group by rule, subject`;
  return {
    open: await openAlerts(sql, recorder),
    lately: new Map(lately.map(({ rule, subject, times }) => [`${rule} ${subject}`, times])),
  };
}

/**
 * Returns the ids of the alerts that depend on a removed name. Neither the configuration nor an active target
 * contains such a name. An alert also depends on the datasets that its rule requires.
 */
async function findUnwatched(
  { sql, rules, facts, config }: Pick<AlertContext, 'sql' | 'rules' | 'facts' | 'config'>,
  open: readonly Alert[],
): Promise<ReadonlySet<number>> {
  const ofRule = new Map(rules.map((rule) => [rule.name, rule]));
  const configured = new Set([
    ...facts.nodes,
    ...facts.nodeIds,
    ...facts.budgets.map(({ upstream }) => upstream),
    // Subjects of findings about the alerts themselves.
    ...rules.map(({ name }) => `the rule ${name}`),
    ...config.channels.map(({ name }) => `the channel ${name}`),
    ...(config.heartbeat ? ['the heartbeat'] : []),
  ]);
  const names = open.flatMap((alert) => {
    const { needs = [], dependsOn } = ofRule.get(alert.rule) ?? {};
    return [...needs, ...(dependsOn?.(alert) ?? [])]
      .filter((name) => !configured.has(name))
      .map((name) => ({ id: alert.id, name }));
  });
  if (names.length === 0) return new Set();
  const rows = await ormOf(sql).execute<{ name: string }>(expression`
    with active as (
      select d.dataset, t.target from ${targetDatasets} d join ${targets} t using (source, target_key) where d.active
    )
    select dataset as name from active union select value from active, jsonb_each_text(target)
    -- Subjects of findings about rules, channels, sinks and exports, of all recorders. The state of removed ones is deleted.
    union select 'the rule ' || rule from recorder.alert_rules
    union select case channel when 'heartbeat' then 'the heartbeat' else 'the channel ' || channel end from recorder.alert_channels
    union select 'the sink ' || sink || s.suffix from recorder.change_sinks k,
      lateral (values (''), (' of the recorder ' || k.recorder)) s(suffix)
    union select destination from recorder.exports`);
  for (const { name } of rows) configured.add(name);
  return new Set(names.flatMap(({ id, name }) => (configured.has(name) ? [] : [id])));
}

/** Returns the alerts that fired before a round and still fire, as notices for channels without earlier notices. */
function findFormerNotices(open: readonly Alert[], { written, notices }: RoundChanges): AlertNotice[] {
  const current = new Set(notices.flatMap(({ alert, kind }) => (kind === 'reminder' ? [] : [alert.id])));
  const changed = new Map(written.map((alert) => [alert.id, alert]));
  return open
    .map((alert) => changed.get(alert.id) ?? alert)
    .filter(({ id, state }) => state === 'firing' && !current.has(id))
    .map((alert) => ({ alert, kind: 'firing' }));
}

interface RoundWrite {
  readonly judged: RoundChanges;
  readonly messages: readonly RoutedMessage[];
  readonly notes: readonly { readonly rule: string; readonly result: EvaluationResult }[];
  /** Configured rules and channels. The state of other rules is deleted. */
  readonly names: Pick<AlertContext, 'rules' | 'config'>;
}

/**
 * Stores the result of a round.
 * @returns false if another round took it over
 */
async function write(
  sql: postgres.Sql,
  recorder: string,
  round: number,
  now: Date,
  { judged, messages, notes, names }: RoundWrite,
): Promise<boolean> {
  const alerts = judged.written.map((alert) => ({
    id: alert.id,
    rule: alert.rule,
    subject: alert.subject,
    severity: alert.severity,
    state: alert.state,
    summary: alert.summary,
    details: alert.details,
    since: alert.since,
    began_at: alert.beganAt,
    fired_at: alert.firedAt,
    resolved_at: alert.resolvedAt,
    flapping: alert.flapping,
    reported_ms: alert.reportedMs,
    absent_ms: alert.absentMs,
    since_notice_ms: alert.sinceNoticeMs,
  }));
  const outbox = messages.map(({ channel, body }) => ({
    channel,
    rule: body.rule,
    kind: body.kind,
    severity: body.severity,
    alerts: body.items.map(({ alert }) => alert),
    body,
  }));
  const evaluated = notes.map(({ rule, result }) => ({
    rule,
    error: 'error' in result ? result.error : null,
  }));
  const rows = await sql`
    with fence as materialized (
      select 1 from recorder.alert_rounds where recorder = ${recorder} and round = ${round} for update
    ),
    removed as (
      delete from recorder.alerts a using fence where a.id = any(${[...judged.removedIds]}::bigint[])
    ),
    kept as (
      insert into recorder.alerts as a (id, recorder, rule, subject, severity, state, summary, details, since, began_at, fired_at,
        resolved_at, flapping, reported_ms, absent_ms, since_notice_ms)
      select r.id, ${recorder}, r.rule, r.subject, r.severity, r.state, r.summary, r.details, r.since, r.began_at, r.fired_at,
        r.resolved_at, r.flapping, r.reported_ms, r.absent_ms, r.since_notice_ms
      from fence, jsonb_to_recordset(${toStorableJson(alerts)}::text::jsonb) as r(id bigint, rule text, subject text, severity text,
        state text, summary text, details jsonb, since timestamptz, began_at timestamptz, fired_at timestamptz,
        resolved_at timestamptz, flapping boolean, reported_ms bigint, absent_ms bigint, since_notice_ms bigint)
      on conflict (id) do update set severity = excluded.severity, state = excluded.state, summary = excluded.summary,
        details = excluded.details, since = excluded.since, fired_at = excluded.fired_at, resolved_at = excluded.resolved_at,
        flapping = excluded.flapping, reported_ms = excluded.reported_ms, absent_ms = excluded.absent_ms, since_notice_ms = excluded.since_notice_ms
    ),
    queued as (
      insert into recorder.alert_messages (recorder, channel, rule, kind, severity, alerts, body, made_at)
      select ${recorder}, r.channel, r.rule, r.kind, r.severity, r.alerts, r.body, now()
      from fence, jsonb_to_recordset(${toStorableJson(outbox)}::text::jsonb) as r(channel text, rule text, kind text, severity text,
        alerts bigint[], body jsonb)
    ),
    added_channels as (
      insert into recorder.alert_channels (recorder, channel)
      select ${recorder}, c.channel from fence, unnest(${names.config.channels.map(({ name }) => name)}::text[]) c(channel)
      on conflict (recorder, channel) do nothing
    ),
    evaluated as (
      insert into recorder.alert_rules as a (recorder, rule, evaluated_at, failed_since, error)
      select ${recorder}, r.rule, ${now}, case when r.error is not null then ${now}::timestamptz end, r.error
      from fence, jsonb_to_recordset(${toStorableJson(evaluated)}::text::jsonb) as r(rule text, error text)
      on conflict (recorder, rule) do update set evaluated_at = excluded.evaluated_at, error = excluded.error,
        failed_since = case when excluded.error is not null then coalesce(a.failed_since, excluded.failed_since) end
    ),
    forgotten_rules as (
      delete from recorder.alert_rules a using fence
      where a.recorder = ${recorder} and a.rule <> all(${names.rules.map(({ name }) => name)}::text[])
    )
    update recorder.alert_rounds r set ended_at = ${now}, lease_until = null
    from fence where r.recorder = ${recorder} returning 1`;
  return rows.length === 1;
}

/**
 * Encodes JSON that PostgreSQL accepts, even if an error contains characters that PostgreSQL cannot store.
 */
const toStorableJson = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '\uFFFD').toWellFormed() : part,
  );
