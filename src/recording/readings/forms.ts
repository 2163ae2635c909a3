import { versionIdSql } from '../../datasets/version-id.ts';
import { type Strip, valueAtSql } from './strip.ts';
import { cellOf, hasBitSql, numberOf, type Packing, regclassSql, wasReadSql } from './value-encoding.ts';

/** A SELECT over readings: its columns by name, as SQL, and its FROM clause. */
export interface ReadingForm {
  readonly columns: ReadonlyMap<string, string>;
  /** SQL after FROM. */
  readonly from: string;
}

/** SQL: select of the given columns of a form. Columns that the form does not have are null. */
export const selectOf = (
  { columns, from }: ReadingForm,
  names: readonly (readonly [name: string, type: string])[],
) =>
  `select ${names.map(([name, type]) => `${columns.get(name) ?? `null::${type}`} as ${name}`).join(', ')} from ${from}`;

/**
 * Returns the columns of a reading by name and type: those of its dataset, `extra`, the instant and the run.
 */
const columnsOf = ({ dataset }: Packing): readonly (readonly [name: string, type: string])[] => [
  ...dataset.columns.map(({ name, type }) => [name, type] as const),
  ['extra', 'jsonb'],
  ['observed_at', 'timestamptz'],
  ['run_id', 'bigint'],
];

/**
 * SQL: all readings, in all forms. The recorder uses this instead of the view, which users can replace.
 * @param names the columns, in order. Default: all.
 */
export function allReadings(packing: Packing, names = columnsOf(packing)): string {
  return [selectClosedDayReadings(packing), selectOpenDayReadings(packing), selectRowReadings(packing)]
    .map((form) => selectOf(withVersionId(packing, form), names))
    .join('\nunion all\n');
}

/** Adds the surrogate key of a reading to a form. */
const withVersionId = ({ dataset }: Packing, { columns, from }: ReadingForm): ReadingForm => ({
  columns: new Map([
    ...columns,
    [
      'version_id',
      versionIdSql(dataset, 'observed_at', (column) => {
        const value = columns.get(column);
        if (value === undefined) throw new Error(`readings of ${dataset.name} have no column ${column}`);
        return value;
      }),
    ],
  ]),
  from,
});

/**
 * Returns the SELECT of readings that are rows of the table of the dataset: late readings, and readings that
 * cannot be packed.
 */
export function selectRowReadings(packing: Packing, where = 'true'): ReadingForm {
  return {
    columns: new Map(columnsOf(packing).map(([name]) => [name, `r.${name}`])),
    from: `recorder.${packing.dataset.name} r where ${where}`,
  };
}

/** Returns the SELECT of the readings of open days. */
export function selectOpenDayReadings(packing: Packing, where = 'true'): ReadingForm {
  const number = numberOf('m');
  const columns = decoded(packing, (at) => ({
    base: `l.base[${at}]`,
    slope: null,
    mode: `l.mode[${at}]`,
    start: `l.start[${at}]`,
    bits: 'l.bits',
    ordinal: `bit_count(substring(l.present from 1 for ${number}))::int`,
  }));
  return {
    columns,
    from: `recorder.reading_open l
    join recorder.reading_scopes s on s.scope_id = l.scope_id
    join recorder.reading_members m on m.scope_id = l.scope_id
  where l.dataset = ${regclassSql(packing)} and s.dataset = ${regclassSql(packing)}
    and ${hasBitSql(number, 'l.present')} and ${where}`,
  };
}

/**
 * SQL: the instant of the last reading of a scope, found without unpacking values. Null if there is none.
 * @param request SQL of each value of the request
 */
export function lastObservationSql(packing: Packing, request: readonly string[]): string {
  const { dataset } = packing;
  const last = (table: string) => `(
        select k.observed_at from recorder.${table} k where k.scope_id = (
          select scope_id from recorder.reading_scopes where dataset = ${regclassSql(packing)} and request = array[${request.join(', ')}])
        order by k.observed_at desc limit 1)`;
  const ofRequest = packing.request.map(({ name }, at) => `q.${name} = ${request[at]}`).join(' and ');
  return `greatest(${last('reading_open')}, ${last('reading_observations')}, (
        select q.observed_at from recorder.${dataset.name} q where ${ofRequest} order by q.observed_at desc limit 1))`;
}

/**
 * Tables or CTEs of closed days, so that the same SQL reads stored days and days that are about to be stored.
 */
export interface ClosedDayTables {
  readonly observations: string;
  readonly days: string;
  readonly members: string;
}

const STORED: ClosedDayTables = {
  observations: 'recorder.reading_observations',
  days: 'recorder.reading_days',
  members: 'recorder.reading_members',
};

/** Returns the SELECT of the readings of closed days. */
export function selectClosedDayReadings(
  packing: Packing,
  where = 'true',
  { observations, days, members } = STORED,
): ReadingForm {
  const cell = (at: number) => cellOf(packing.values.length, at);
  const columns = decoded(packing, (at) => ({
    base: `d.base[${cell(at)}]`,
    slope: `d.slope[${cell(at)}]`,
    mode: `d.mode[${cell(at)}]`,
    start: `d.start[${cell(at)}]`,
    bits: 'd.bits',
    ordinal: 'l.ordinal',
  }));
  return {
    columns,
    from: `${observations} l
    join recorder.reading_scopes s on s.scope_id = l.scope_id
    join ${days} d on d.scope_id = l.scope_id and d.day = l.day
    join ${members} m on m.scope_id = d.scope_id and m.chunk = d.chunk
  where s.dataset = ${regclassSql(packing)} and ${wasReadSql(packing)}
    and (d.present is null or get_bit(d.present, (m.seat - 1) * d.observation_count + l.ordinal) = 1) and ${where}`,
  };
}

function decoded({ request, texts, values }: Packing, strip: (at: number) => Strip): Map<string, string> {
  return new Map([
    ...request.map(({ name }, at): [string, string] => [name, `s.request[${at + 1}]`]),
    ...texts.map(({ name }, at): [string, string] => [name, `m.texts[${at + 1}]`]),
    ...values.map(({ column, kind }, at): [string, string] => [
      column.name,
      valueAtSql(strip(at + 1), kind, column.nullable, 'l.observed_at'),
    ]),
    ['observed_at', 'l.observed_at'],
    ['run_id', 'l.run_id'],
  ]);
}
