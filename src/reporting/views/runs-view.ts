import { declaredColumn as column, type DeclaredView } from '../../db/declared.ts';
import { blockOf, packedBlock, packedKinds, packedValue } from '../../recording/packed-form.ts';

/** Returns SQL of a number for each dataset of a run, by the position of the dataset in it. */
const byPlace = (name: (place: number) => string) =>
  `case d.place ${[1, 2, 3, 4].map((place) => `when ${place} then ${name(place)}`).join(' ')} end`;
const instant = (value: string) => `timestamptz 'epoch' + ${value} * interval '1 microsecond'`;
const begun = `${packedValue('started')} * k.unit`;
const items = (place: number) => packedValue(`items_${place}`);
const windowFrom = `case when k.has_from then ${packedValue('window_from')} end`;
const windowTo = `case when k.has_to then ${packedValue('window_to')} end`;

/** The view `runs`: the runs of `recorder.runs`, and the packed ones, in the same format. */
export const runsView: DeclaredView = {
  kind: 'view',
  name: 'runs',
  comment:
    'One row a run and dataset. Pages, requests and units are counted once, on the dataset that leads the run.',
  columns: [
    column('run_id', 'bigint', 'The run.'),
    column('dataset', 'text', 'The dataset recorded.'),
    column('target', 'text', 'What was asked about, as key=value.'),
    column('reason', 'text', 'poll, heal, sweep, backfill, manual, redrive or unwatched.'),
    column(
      'status',
      'text',
      'running, done, partial (stored, nothing retired), stopped, failed, not-offered, or lost (its worker died).',
    ),
    column('started_at', 'timestamptz', 'When it began.'),
    column('finished_at', 'timestamptz', 'When it ended; null: it runs.'),
    column('pages', 'integer', 'Pages read.'),
    column('items', 'bigint', 'Items in those pages.'),
    column('rows_written', 'bigint', 'Rows written; what was known already is not written again.'),
    column('requests', 'integer', 'Calls made, retries included.'),
    column('budget_units', 'bigint', 'Budget units those calls cost.'),
    column('error', 'text', 'Why it failed.'),
    column('note', 'text', 'What the upstream said beside the rows.'),
    column('quarantined', 'bigint', 'Items of the whole run that could not be decoded.'),
    column('worker', 'text', 'The process that ran it.'),
    column('window_start', 'timestamptz', 'Begin of its window of time; null: an observation, or heights.'),
    column('window_end', 'timestamptz', 'End of its window of time; null: an observation, or heights.'),
    column(
      'first_height',
      'bigint',
      'Begin of its window of heights, open to the newest; null: another kind of run.',
    ),
    column(
      'run_block',
      'bigint',
      'The block of the run, of reporting.run_blocks. Old runs are stored by block: with it they are found at once.',
    ),
  ],
  body: `select r.run_id, d.dataset, r.target_key as target, r.reason, r.status, r.started_at, r.finished_at,
  case d.place when 1 then r.pages else 0 end as pages,
  r.items[d.place] as items, r.rows_written[d.place] as rows_written,
  case d.place when 1 then r.requests else 0 end as requests,
  case d.place when 1 then r.budget_units else 0 end as budget_units,
  r.error, r.note, r.quarantined, r.worker,
  case when r.axis = 'time' then to_timestamp(r.window_from / 1000.0) end as window_start,
  case when r.axis = 'time' then to_timestamp(r.window_to / 1000.0) end as window_end,
  case when r.axis = 'height' then r.window_from end as first_height,
  ${blockOf('r.run_id')} as run_block
from recorder.runs r, unnest(r.datasets) with ordinality as d(dataset, place)
union all
select ${packedValue('run_id')}, d.dataset, k.target, k.reason, 'done', ${instant(begun)},
  ${instant(`(${begun} + ${packedValue('took')} * k.unit)`)},
  case d.place when 1 then ${packedValue('pages')} else 0 end::integer,
  ${byPlace(items)}, ${byPlace((place) => `${items(place)} + ${packedValue(`rows_more_${place}`)}`)},
  case d.place when 1 then ${packedValue('requests_more')} + ${items(1)} else 0 end::integer,
  case d.place when 1 then ${packedValue('units')} else 0 end,
  null, null, 0, k.worker,
  case when k.axis = 'time' then to_timestamp((${windowFrom}) / 1000.0) end,
  case when k.axis = 'time' then to_timestamp((${windowTo}) / 1000.0) end,
  case when k.axis = 'height' then ${windowFrom} end,
  b.run_block
-- The order keeps a block apart, so that it is unpacked once and not once a run, and lets conditions on the block through.
from (select ${packedBlock} from recorder.packed_runs p order by p.run_block, p.first_run) b
cross join jsonb_to_recordset(b.kinds) as k(${packedKinds})
cross join unnest(k.datasets::text[]) with ordinality as d(dataset, place)
cross join generate_series(0, k.runs - 1) j`,
};
