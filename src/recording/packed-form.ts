import { tableText } from '../db/orm.ts';
import { packedRuns, runs } from '../db/schema/bookkeeping.ts';
/**
 * Storage format of old runs. The runs of a block, {@link RUNS_PER_BLOCK} consecutive numbers, are grouped into kinds.
 * Values that are equal in all runs of a kind are stored once. Each number of a run is stored as the
 * difference from the value that its kind predicts, in as many bytes as the block needs. The first bytes of
 * all runs are stored together, then the second ones, and so on, because such planes compress well.
 */

/** Runs whose numbers are equal after division by this form one block. It must be a power of 2. */
export const RUNS_PER_BLOCK = 8192;
const SHIFT = Math.log2(RUNS_PER_BLOCK);

/** SQL: block number of a run. */
export const blockOf = (runId: string) => `(${runId} >> ${SHIFT})`;

/** Maximum number of datasets of a packed run. */
const MAX_DATASETS = 4;
/**
 * Maximum width of a difference. No difference exceeds 2^54, because every value is at most 2^53, see
 * {@link isPlain}.
 */
const MAX_BYTES = 7;
const MAX_VALUE = 2 ** 53;

/** A number that is stored for each run. */
export interface PackedNumber {
  readonly name: string;
  /** SQL of its value in a row `r` of the table of runs. */
  readonly value: string;
  /** It increases almost linearly from run to run of a kind. */
  readonly grows?: true;
}

const micros = (instant: string) => `(extract(epoch from ${instant}) * 1000000)::bigint`;
/** If both instants are whole milliseconds, they are stored in milliseconds, else in microseconds. */
const isWhole = `(${micros('r.started_at')} % 1000 = 0 and ${micros('r.finished_at')} % 1000 = 0)`;
const unit = `(case when ${isWhole} then 1000 else 1 end)`;

const places = Array.from({ length: MAX_DATASETS }, (_, at) => at + 1);

/** Numbers of a run, in storage order. Some are stored relative to another one, which makes them smaller. */
export const packedNumbers: readonly PackedNumber[] = [
  { name: 'run_id', value: 'r.run_id', grows: true },
  { name: 'started', value: `${micros('r.started_at')} / ${unit}`, grows: true },
  { name: 'took', value: `(${micros('r.finished_at')} - ${micros('r.started_at')}) / ${unit}` },
  { name: 'pages', value: 'r.pages' },
  { name: 'requests_more', value: 'r.requests - r.items[1]' },
  { name: 'units', value: 'r.budget_units' },
  { name: 'window_from', value: 'coalesce(r.window_from, 0)', grows: true },
  { name: 'window_to', value: 'coalesce(r.window_to, 0)' },
  ...places.map((place) => ({ name: `items_${place}`, value: `coalesce(r.items[${place}], 0)` })),
  ...places.map((place) => ({
    name: `rows_more_${place}`,
    value: `coalesce(r.rows_written[${place}] - r.items[${place}], 0)`,
  })),
];

/** Values that are equal in all runs of a kind: the name, and its SQL in a row `r` of the table of runs. */
export const kindFields: readonly { readonly name: string; readonly value: string; readonly type: string }[] =
  [
    { name: 'source', value: 'r.source', type: 'text' },
    { name: 'target', value: 'r.target_key', type: 'text' },
    { name: 'datasets', value: 'r.datasets::text', type: 'text' },
    { name: 'reason', value: 'r.reason', type: 'text' },
    { name: 'worker', value: 'r.worker', type: 'text' },
    { name: 'axis', value: 'r.axis', type: 'text' },
    { name: 'has_from', value: 'r.window_from is not null', type: 'boolean' },
    { name: 'has_to', value: 'r.window_to is not null', type: 'boolean' },
    { name: 'unit', value: unit, type: 'bigint' },
  ];

const list = (column: string) =>
  `array_ndims(${column}) = 1 and array_lower(${column}, 1) = 1 and array_position(${column}, null) is null`;
const counts = [
  'r.run_id',
  'r.pages',
  'r.requests',
  'r.budget_units',
  'r.window_from',
  'r.window_to',
  micros('r.started_at'),
  micros('r.finished_at'),
];

/**
 * SQL: condition that a row `r` of the table of runs is a success that wrote rows, without error, note or
 * quarantined items. The text must match the predicate of an index.
 */
export const isPlain = `r.status = 'done' and r.error is null and r.note is null and r.quarantined = 0 and not (0 = all (r.rows_written))`;

/** SQL: condition that all values of a plain row `r` of the table of runs can be packed. */
export const canBePacked = `case when isfinite(r.started_at) and isfinite(r.finished_at) and r.finished_at >= r.started_at
    and ${['r.datasets', 'r.items', 'r.rows_written'].map(list).join(' and ')}
    and cardinality(r.datasets) <= ${MAX_DATASETS}
    and cardinality(r.items) = cardinality(r.datasets) and cardinality(r.rows_written) = cardinality(r.datasets)
  then (select bool_and(n is null or n between 0 and ${MAX_VALUE}) from unnest(array[${counts.join(', ')}] || r.items || r.rows_written) n)
  else false end`;

/**
 * SQL of a number of run `j` of the kind `k` of the block `b`, whose columns are named by {@link packedBlock}
 * and {@link packedKinds}.
 */
export function packedValue(name: string): string {
  const at = packedNumbers.findIndex((number) => number.name === name);
  const step = packedNumbers[at]?.grows ? ` + k.step_${at} * j` : '';
  const bytes = Array.from({ length: MAX_BYTES }, (_, byte) => {
    const read = `get_byte(b.body, (b.plane_${at} + ${byte}) * b.runs + k.first + j)`;
    return `case when b.width_${at} > ${byte} then ${byte === 0 ? read : `${read}::bigint << ${8 * byte}`} else 0 end`;
  });
  return `(k.least_${at}${step} + ${bytes.join(' + ')})`;
}

/**
 * SQL: columns of a row `p` of `recorder.packed_runs` for {@link packedValue}. The body is decompressed once
 * per row instead of once per value.
 */
export const packedBlock = `p.run_block, p.runs, p.kinds, p.body || ''::bytea as body, ${packedNumbers
  .map((_, at) => `p.widths[${at + 1}] as width_${at}, p.planes[${at + 1}] as plane_${at}`)
  .join(', ')}`;

/** SQL: columns of a kind, for `jsonb_to_recordset`. */
export const packedKinds = [
  ...kindFields.map(({ name, type }) => `${name} ${type}`),
  'runs integer',
  'first integer',
  ...packedNumbers.flatMap(({ grows }, at) => [
    `least_${at} bigint`,
    ...(grows ? [`step_${at} bigint`] : []),
  ]),
].join(', ');

/** SQL: the target of a run, packed or not. Null if there is no such run. */
export const runTargetSql = (runId: string) => `coalesce(
  (select r.target_key from ${tableText(runs)} r where r.run_id = ${runId}),
  (select k.target from (
      select ${packedBlock} from ${tableText(packedRuns)} p
      where p.run_block = ${blockOf(runId)} and ${runId} between p.first_run and p.last_run) b,
    jsonb_to_recordset(b.kinds) as k(${packedKinds}), generate_series(0, k.runs - 1) j
    where ${packedValue('run_id')} = ${runId}))`;
