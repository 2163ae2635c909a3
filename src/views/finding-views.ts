import type { Derived } from '../db/derive.ts';
import { view } from './commented.ts';

/** How long something may stay where it is; ledgers, schedules and commits have a minute at least. */
const tolerated = (every: string) => `3 * ${every}`;
const toleratedMinute = (every: string) => `greatest(3 * ${every}, interval '1 minute')`;

const isLate = `f.late_by + f.expected_every > ${tolerated('f.expected_every')}`;

/** Datasets of targets that are late, else fail, else are incomplete. What is not on offer cannot be late. */
const targets = `
  select case when ${isLate} then 'late' when f.failures > 0 then 'failing' else 'incomplete' end as state,
    'target'::text as what, f.dataset, f.target as subject,
    case when ${isLate} or f.failures > 0 then greatest(f.last_success_at, f.wanted_at) else f.incomplete_since end as since,
    coalesce(f.reason, case when f.last_success_at is null then 'it was never recorded' else 'no run succeeded since' end) as reason
  from reporting.freshness f
  where f.not_offered is null and (${isLate} or f.failures > 0 or f.incomplete_since is not null)`;

const ledgers = `
  select 'standing still', 'ledger', 'node_health', o.observer, o.moved_at,
    case when o.watching then 'a process has this observer, but settles nothing' else 'no process watches for this observer' end
  from (
    select t.target ->> 'observer' as observer, coalesce(h.lease_until >= now(), false) as watching,
      greatest(h.heartbeat_at, min(d.wanted_at)) as moved_at, make_interval(secs => min(d.every_ms) / 1000.0) as every
    from recorder.target_datasets d
    join recorder.targets t using (source, target_key)
    left join recorder.health_observers h on h.observer = t.target ->> 'observer'
    where d.dataset = 'node_health' and d.active group by 1, 2, h.heartbeat_at) o
  where now() - o.moved_at > ${toleratedMinute('o.every')}`;

/** Of probes whose rows the database refuses; those of nodes that are not watched any more are nobody's concern. */
const refusals = `
  select 'standing still', 'ledger', 'node_health', concat_ws(' ', p.observer, p.node, p.probe), p.settled_until, p.refused
  from reporting.node_probes p
  where p.refused is not null and exists (
    select from recorder.targets t join recorder.target_datasets d using (source, target_key)
    where d.dataset = 'node_health' and d.active
      and t.target @> jsonb_build_object('observer', p.observer, 'node', p.node, 'probe', p.probe))`;

const schedules = `
  select 'standing still', 'schedule', null, s.schedule, s.stood_since, s.reason
  from (
    select s.schedule, case
        when now() - s.seen_at > ${toleratedMinute('s.expected_every')} then s.seen_at
        when now() - s.missing_since > interval '1 minute' then s.missing_since
        when now() - s.next_at > greatest(s.expected_every, interval '1 minute') then s.next_at end as stood_since,
      case
        when now() - s.seen_at > ${toleratedMinute('s.expected_every')} then 'nobody holds the schedules in line: a process with the role scheduler has to run and to reach the queue'
        when s.next_at is null then 'the queue does not have it'
        else 'its tick is overdue' end as reason
    from reporting.schedules s) s
  where s.stood_since is not null`;

const commits = `
  select 'standing still', 'commits', null, 'all of the recording', c.newest, 'nothing at all was committed since'
  from (
    select min(f.expected_every) filter (where f.not_offered is null) as every,
      greatest(max(f.last_success_at), max(f.last_failure_at), max(f.wanted_at)) as newest
    from reporting.freshness f where f.dataset <> 'node_health') c
  where now() - c.newest > ${toleratedMinute('c.every')}`;

/**
 * The watchdog: it knows nothing of causes and compares what should have moved with what did. What it finds is one view,
 * which `status`, `doctor`, the server and the log read.
 */
export const findingViews: readonly Derived[] = [
  view(
    'schedules',
    'The schedules that should be in the queue, as whoever holds them in line saw them last.',
    `select s.schedule, make_interval(secs => s.every_ms / 1000.0) as expected_every, s.next_at, s.missing_since, s.seen_at
    from recorder.schedules s`,
    {
      schedule: 'The schedule.',
      expected_every: 'How often it ticks.',
      next_at: 'When it ticks next; null: the queue did not have it.',
      missing_since: 'Since when the queue does not have it; null: it does.',
      seen_at: 'When the queue was last looked at.',
    },
  ),
  view(
    'findings',
    'Whatever does not stand as it should, and why. No row: all is well.',
    [targets, ledgers, refusals, schedules, commits].join('\n  union all'),
    {
      state: 'late, failing, incomplete, or standing still.',
      what: 'target, ledger (of an observer, or of one probe), schedule, or commits.',
      dataset: 'The dataset; null: it is not about one.',
      subject: 'The target, the observer, the probe or the schedule.',
      since: 'Since when: of what is late or fails, the last success, or when it was first wanted.',
      reason: 'Why, as far as it is known.',
    },
  ),
];
