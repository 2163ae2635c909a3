import type { Dataset, DatasetColumn } from '../../datasets/contract.ts';
import { lockRow } from '../../db/row-lock.ts';
import { itemColumns } from './batch.ts';

/** What happened to a row, by the letter that stands for it in `recorder.changes`. */
export const CHANGES = {
  a: 'appeared',
  r: 'revised',
  b: 'returned',
  l: 'left',
  u: 'unwatched',
  s: 'late',
} as const;

/** The columns of the key that come from an item, in their order in the table. */
const keyOfItem = (dataset: Dataset): readonly DatasetColumn[] =>
  itemColumns(dataset).filter(({ name }) => dataset.key.includes(name));

/** SQL: the columns of the key that come from an item. @param row the alias of a row */
export const keyList = (dataset: Dataset, row: string): string =>
  keyOfItem(dataset)
    .map(({ name }) => `${row}.${name}, `)
    .join('');

/**
 * Where the values of a column of the key stand in `recorder.changes`: texts in `texts`, all others in `keys` at the column's place among those of
 * the item, where texts have null. Commits of earlier versions have texts in `keys`, too.
 */
export const placesOf = (dataset: Dataset) => {
  let texts = 0;
  return keyOfItem(dataset).map(({ name, type }, at) => {
    if (type === 'text') texts += 1;
    return { name, type, inKeys: at + 1, inTexts: type === 'text' ? texts : null };
  });
};

/** SQL: `texts` and `keys` of changes. @param valuesOf SQL: the values of a column, an array @param since an array as a text */
function keysSaid(dataset: Dataset, valuesOf: (name: string) => string, since: string) {
  const places = placesOf(dataset);
  const texts = places.flatMap(({ name, inTexts }) => (inTexts === null ? [] : [valuesOf(name)]));
  const keys = places.map(({ name, inTexts }) => (inTexts === null ? `${valuesOf(name)}::text` : 'null'));
  return {
    ...(texts.length > 0 && { texts: `array[${texts.join(', ')}]` }),
    keys: `array[${[...keys, since].join(', ')}]`,
  };
}

/** The columns of `recorder.changes` that say what changed, as {@link eventsOf} and readings give them. */
const SAYING = ['changes', 'kinds', 'texts', 'keys', 'scope_id', 'present', 'turns'] as const;

/** SQL: a select of those columns, with null where nothing is given. */
export const saying = (given: Partial<Record<(typeof SAYING)[number], string>>): string => {
  const types = {
    changes: 'int',
    kinds: 'text',
    texts: 'text[]',
    keys: 'text[]',
    scope_id: 'int',
    present: 'varbit',
    turns: 'jsonb',
  };
  return `select ${SAYING.map((name) => `${given[name] ?? 'null'}::${types[name]} as ${name}`).join(', ')}`;
};

/**
 * SQL: one row that says what changed of versions or sayings; no row where nothing did.
 * @param rows a select of the key's columns of the item, `begins` (since when the version counts) and `kind`
 * @param observedAt from where instants are counted
 */
export function eventsOf(dataset: Dataset, rows: string, observedAt: string): string {
  return `${saying({
    changes: 'count(*)',
    kinds: `string_agg(e.kind, '')`,
    ...keysSaid(
      dataset,
      (name) => `array_agg(e.${name})`,
      `array_agg((extract(epoch from e.begins - ${observedAt}) * 1000000)::bigint)::text`,
    ),
  })} from (${rows}) e having count(*) > 0`;
}

/**
 * SQL: as {@link eventsOf}, of rows that all are new and count from one moment: their keys stand in arrays already, and need not be
 * collected from the rows.
 * @param arrays the columns of the rows in their order in the table, an array each
 * @param written how many rows were written: all or none
 * @param begins since when the rows count
 */
export function appearances(
  dataset: Dataset,
  arrays: readonly { readonly name: string; readonly array: string }[],
  written: string,
  begins: string,
  observedAt: string,
): string {
  const arrayOf = (wanted: string) => {
    const found = arrays.find(({ name }) => name === wanted);
    if (!found) throw new Error(`${dataset.name} has no array of ${wanted}`);
    return found.array;
  };
  return `${saying({
    changes: 'n.count',
    kinds: `repeat('a', n.count)`,
    ...keysSaid(
      dataset,
      arrayOf,
      `array_fill((extract(epoch from ${begins} - ${observedAt}) * 1000000)::bigint, array[n.count])::text`,
    ),
  })} from (select ${written}::int as count) n where n.count > 0`;
}

/** What one statement notes of its changes. */
export interface Noting {
  /** SQL of what changed of each dataset (`saying`), with the values of its request as `text[]`. */
  readonly events: readonly { readonly dataset: string; readonly request: string; readonly sql: string }[];
  readonly runId: string;
  readonly recordedAt: string;
  readonly observedAt: string;
  /** The names of the CTEs that must have ended before. */
  readonly after: readonly string[];
}

/**
 * The CTEs that note what a statement changed. The number of the commit is drawn last, under a lock that PostgreSQL gives back once
 * the commit is visible: so numbers are in the order of commits, whoever sees a commit sees all with lower numbers, and who saw a
 * change and then wrote has a higher number. Where nothing changed there is no lock. Whatever a statement may wait for comes before,
 * so that nobody waits while it has the lock, and two statements never wait for each other.
 */
export function noteChanges({ events, runId, recordedAt, observedAt, after }: Noting): string[] {
  const said = events.map(
    ({ dataset, request, sql }) =>
      `select '${dataset}' as dataset, ${request} as request, e.* from (${sql}) e`,
  );
  const ended = ['0', ...after.map((name) => `(select count(*) from ${name})`)].join(' + ');
  return [
    `said as materialized (
      ${said.join('\n      union all\n      ')})`,
    `turn as materialized (
      ${lockRow('changes', `exists (select from said) and ${ended} >= 0`)})`,
    // Without the row of the lock, which "migrate" creates, no commit may be numbered: the division fails.
    `held as materialized (
      select 1 / (select count(*)::int from turn) as mine where exists (select from said))`,
    `noted as (
      insert into recorder.changes (dataset, run_id, recorded_at, observed_at, request, ${SAYING.join(', ')})
      select said.dataset, ${runId}, ${recordedAt}, ${observedAt}, said.request, ${SAYING.map((name) => `said.${name}`).join(', ')}
      from held cross join said where held.mine = 1 returning 1)`,
  ];
}
