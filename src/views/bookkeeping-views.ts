import type { Derived } from '../db/derive.ts';
import { view } from './commented.ts';

/** Targets that the prober watches: it makes no runs, and what it covers follows from its ledger. */
const watchedTargets = `recorder.target_datasets d
    join recorder.targets t using (source, target_key)
    join recorder.health_observers o on d.dataset = 'node_health' and o.observer = t.target ->> 'observer'`;
const ofTarget = (alias: string) =>
  `(${alias}.observer, ${alias}.node, ${alias}.probe) = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')`;
const wanted = `recorder.target_datasets d
    join recorder.targets t using (source, target_key)
    left join recorder.health_probes p on d.dataset = 'node_health' and ${ofTarget('p')}
    cross join lateral (select greatest(d.last_success_at, p.probed_at) as last_success_at,
      greatest(d.last_complete_at, p.probed_at) as last_complete_at) l`;

/** What the recorder knows about its own work, for every dataset (contract section 3). */
export const bookkeepingViews: readonly Derived[] = [
  view(
    'runs',
    'One row a run and dataset. Pages, requests and units are counted once, on the dataset that leads the run.',
    `select r.run_id, d.dataset, r.target_key as target, r.reason, r.status, r.started_at, r.finished_at,
      case d.place when 1 then r.pages else 0 end as pages,
      r.items[d.place] as items, r.rows_written[d.place] as rows_written,
      case d.place when 1 then r.requests else 0 end as requests,
      case d.place when 1 then r.budget_units else 0 end as budget_units,
      r.error, r.note, r.quarantined, r.worker,
      case when r.axis = 'time' then to_timestamp(r.window_from / 1000.0) end as window_start,
      case when r.axis = 'time' then to_timestamp(r.window_to / 1000.0) end as window_end,
      case when r.axis = 'height' then r.window_from end as first_height
    from recorder.runs r, unnest(r.datasets) with ordinality as d(dataset, place)`,
    {
      run_id: 'The run.',
      dataset: 'The dataset recorded.',
      target: 'What was asked about, as key=value.',
      reason: 'poll, heal, backfill or manual.',
      status:
        'running, done, partial (stored, nothing retired), stopped, failed, not-offered, or lost (its worker died).',
      started_at: 'When it began.',
      finished_at: 'When it ended; null: it runs.',
      pages: 'Pages read.',
      items: 'Items in those pages.',
      rows_written: 'Rows written; what was known already is not written again.',
      requests: 'Calls made, retries included.',
      budget_units: 'Budget units those calls cost.',
      error: 'Why it failed.',
      note: 'What the upstream said beside the rows.',
      quarantined: 'Items of the whole run that could not be decoded.',
      worker: 'The process that ran it.',
      window_start: 'Begin of its window of time; null: an observation, or heights.',
      window_end: 'End of its window of time; null: an observation, or heights.',
      first_height: 'Begin of its window of heights, open to the newest; null: another kind of run.',
    },
  ),
  countedRuns('day', 'Runs that wrote nothing and are gone from reporting.runs, counted up by day.'),
  countedRuns('month', 'What was in reporting.run_days three months ago, counted up by month.'),
  view(
    'coverage',
    'What is recorded completely: unbroken ranges, by dataset and target.',
    `select c.dataset, c.target_key as target, ${rangeBounds('c.axis', 'r.covered')}, 'recorded'::text as reason
    from recorder.coverage c, unnest(c.covered) as r(covered)
    union all
    select 'node_health', t.target_key, lower(r.watched), upper(r.watched), null, null, 'recorded'
    from ${watchedTargets}
    cross join lateral (
      select tstzmultirange(tstzrange(min(h.started_at), greatest((select p.settled_until from reporting.node_probes p where ${ofTarget('p')}),
        min(h.started_at)))) - coalesce((
        select range_agg(tstzrange(a.started_at, a.ended_at)) from recorder.health_absences a
        where a.observer = o.observer), '{}') as watched
      from recorder.node_health h where ${ofTarget('h')} and h.check_name = '*') w
    cross join lateral unnest(w.watched) as r(watched)`,
    {
      dataset: 'The dataset.',
      target: 'What was asked about.',
      range_start: 'First moment of the range; null on the axis of heights.',
      range_end: 'End of the range, itself not in it; null on the axis of heights.',
      first_height: 'First height of the range; null on the axis of time.',
      end_height: 'End of the range, itself not in it; null on the axis of time.',
      reason: 'Why it is so.',
    },
  ),
  view(
    'gaps',
    'What is missing between the expected begin and the newest recorded moment, and why.',
    `select g.dataset, g.target_key as target, ${rangeBounds('g.axis', 'g.range')}, g.reason
    from recorder.gaps g
    union all
    select 'node_health', t.target_key, a.started_at, a.ended_at, null, null, a.reason
    from ${watchedTargets}
    join recorder.health_absences a on a.observer = o.observer
    where a.ended_at > (select min(h.started_at) from recorder.node_health h where ${ofTarget('h')} and h.check_name = '*')
    union all
    select c.dataset, c.target_key, ${rangeBounds('c.axis', 'm.missing')}, 'not recorded yet'
    from recorder.coverage c
    join recorder.target_datasets t using (dataset, target_key)
    cross join lateral unnest(
      int8multirange(int8range(least(t.expected_from, upper(c.covered)), upper(c.covered))) - c.covered
      - coalesce((select range_agg(g.range) from recorder.gaps g
          where g.dataset = c.dataset and g.target_key = c.target_key), '{}')) as m(missing)
    where t.expected_from is not null`,
    {
      dataset: 'The dataset.',
      target: 'What was asked about.',
      range_start: 'First moment that is missing; null on the axis of heights.',
      range_end: 'End of what is missing; null on the axis of heights.',
      first_height: 'First height that is missing; null on the axis of time.',
      end_height: 'End of what is missing; null on the axis of time.',
      reason: 'Why: "not recorded yet" can still be fetched, anything else cannot.',
    },
  ),
  view(
    'freshness',
    'How late each dataset and target is.',
    `select d.dataset, d.target_key as target, l.last_success_at, e.expected_every,
      case when e.expected_every is not null then
        greatest(now() - greatest(l.last_success_at, d.wanted_at) - e.expected_every, interval '0') end as late_by,
      d.failures, d.not_offered, l.last_complete_at, d.incomplete_since,
      case when d.failures > 0 then d.last_error else d.incomplete_reason end as reason,
      d.wanted_at, d.last_failure_at, d.last_error as last_failure, d.rows_written,
      case when d.rows_day = (now() at time zone 'UTC')::date then d.rows_today else 0 end as rows_today
    from ${wanted}
    cross join lateral (select case when not d.once or l.last_success_at is null
      then make_interval(secs => d.every_ms / 1000.0) end as expected_every) e
    where d.active`,
    {
      dataset: 'The dataset.',
      target: 'What is asked about.',
      last_success_at: 'When it was last recorded; null: never.',
      expected_every: 'How often it should be; null: never again, what is answered does not change.',
      late_by:
        'How much longer ago than expected the last success is, or where there was none, when it was first wanted.',
      failures: 'Failed runs since the last success.',
      not_offered: 'Why the upstream does not answer for this target; null: it does.',
      last_complete_at: 'When it was last recorded with nothing missing; null: never.',
      incomplete_since: 'Since when each success left something out; null: the last one was complete.',
      reason: 'Why it fails or is incomplete.',
      wanted_at: 'Since when it is asked for.',
      last_failure_at: 'When it last failed.',
      last_failure: 'Why it did.',
      rows_written: 'Rows written, ever.',
      rows_today: 'Rows written today (UTC).',
    },
  ),
  view(
    'coverage_states',
    'How each dataset and target stands: what was expected of it and what came of it.',
    `select d.dataset, d.target_key as target,
      case
        when d.not_offered is not null then 'not supported'
        when l.last_success_at is null and d.failures > 0 then 'failed'
        when l.last_success_at is null then 'never asked'
        when d.failures > 0 then 'failing'
        when d.dataset <> 'node_health' and d.items = 0 then 'empty'
        else 'covered' end as state,
      coalesce((select count(*) from reporting.gaps g where g.dataset = d.dataset and g.target = d.target_key), 0) as gaps,
      l.last_success_at, d.last_failure_at
    from ${wanted} where d.active`,
    {
      dataset: 'The dataset.',
      target: 'What is asked about.',
      state:
        'covered; empty (asked, nothing there); failing (recorded before, fails now); failed (asked, never an answer); never asked; not supported (the upstream does not offer it).',
      gaps: 'Holes in what is recorded (reporting.gaps).',
      last_success_at: 'When it was last recorded.',
      last_failure_at: 'When it last failed.',
    },
  ),
  view(
    'quarantine',
    'Items that could not be decoded or stored: one row an item and reason.',
    `select q.id, q.dataset, q.target_key as target, q.run_id, q.quarantined_at, q.reason, q.item,
      q.quarantined_at as first_seen, q.last_seen, q.times
    from recorder.quarantine q`,
    {
      id: 'The item.',
      dataset: 'The dataset it belongs to.',
      target: 'What was asked about.',
      run_id: 'The run that met it last.',
      quarantined_at: 'When it came first, as first_seen.',
      reason: 'What is wrong with it, by field.',
      item: 'Its JSON, as it came last.',
      first_seen: 'When it came first.',
      last_seen: 'When it came last.',
      times: 'How often it came.',
    },
  ),
];

function countedRuns(span: 'day' | 'month', about: string): Derived {
  return view(
    `run_${span}s`,
    about,
    `select d.starts_on as ${span}, d.dataset, d.target_key as target, d.reason, d.runs, d.failed, d.lost, d.pages, d.items,
      d.requests, d.budget_units, d.quarantined
    from recorder.run_days d where d.span = '${span}'`,
    {
      [span]: `The ${span} (UTC) on which they began${span === 'month' ? ', by its first day' : ''}.`,
      dataset: 'The dataset.',
      target: 'What was asked about.',
      reason: 'poll, heal, sweep, backfill, manual or redrive.',
      runs: 'Runs.',
      failed: 'Of these, those that failed.',
      lost: 'Of these, those whose worker died.',
      pages: 'Pages read, counted on the dataset that led the run.',
      items: 'Items in those pages.',
      requests: 'Calls made, counted on the dataset that led the run.',
      budget_units: 'Budget units those calls cost, counted on the dataset that led the run.',
      quarantined: 'Items that could not be decoded, counted on the dataset that led the run.',
    },
  );
}

function rangeBounds(axis: string, range: string): string {
  const bound = (end: 'lower' | 'upper') =>
    `case ${axis} when 'time' then to_timestamp(${end}(${range}) / 1000.0) end`;
  const height = (end: 'lower' | 'upper') => `case ${axis} when 'height' then ${end}(${range}) end`;
  return `${bound('lower')} as range_start, ${bound('upper')} as range_end,
      ${height('lower')} as first_height, ${height('upper')} as end_height`;
}
