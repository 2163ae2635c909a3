import type { Dataset, DatasetColumn, History } from '../../datasets/contract.ts';
import { POINT_VALUES } from '../../datasets/dataset.ts';
import { tableRowsSql } from '../../datasets/target-columns.ts';
import { versionIdSql } from '../../datasets/version-id.ts';
import { declaredColumn as column, type DeclaredColumn, type DeclaredView } from '../../db/declared.ts';
import { CHANGE_KINDS, keyPositions } from '../../recording/histories/changes.ts';
import {
  selectClosedDayReadings,
  selectOf,
  selectOpenDayReadings,
  selectRowReadings,
} from '../../recording/readings/forms.ts';
import { hasBitSql, memberTextsSql, numberOf, packingOf } from '../../recording/readings/value-encoding.ts';

const CURSOR = (position: string) =>
  `c.commit_number || '.' || ${position} || '.' || to_hex((extract(epoch from c.made_at) * 1000000)::bigint)`;

/** The view `change_commits`: the commits with changes, one row per commit and dataset. */
export const changeCommits: DeclaredView = {
  kind: 'view',
  name: 'change_commits',
  comment:
    'The commits with changes, as far back as they are kept, in the order in which they became visible: one row per commit and dataset.',
  columns: [
    column(
      'commit_number',
      'bigint',
      'The number of the commit. Numbers increase with each commit, with gaps.',
    ),
    column('dataset', 'text', 'The dataset.'),
    column('run_id', 'bigint', 'The run that recorded the change. Null: the prober recorded the change.'),
    column('recorded_at', 'timestamptz', 'Recording time, by the clock of the process.'),
    column('made_at', 'timestamptz', 'Commit time, by the clock of the database.'),
    column('changes', 'integer', 'Number of changes of the commit.'),
    column(
      'cursor',
      'text',
      'Position of the last change of the commit in the feed, after which reporting.changes continues.',
    ),
  ],
  body: `select c.commit_number, c.dataset, c.run_id, c.recorded_at, c.made_at, c.changes, ${CURSOR('c.changes')} as cursor
from recorder.changes c`,
};

/**
 * Returns the view `change_rows` with every change. The content of a change is read from the recorded rows.
 */
export function changeRows(catalog: readonly Dataset[]): DeclaredView {
  return {
    kind: 'view',
    name: 'change_rows',
    schema: 'reporting_internal',
    comment:
      'Every change of every dataset, as far back as commits are kept. Query reporting.changes instead: it returns the same rows and reads only those that it returns.',
    columns: [
      column('commit_number', 'bigint', 'The number of the commit.'),
      column('position', 'integer', 'Position of the change within the commit, from 1.'),
      ...changeColumns,
    ],
    body: [...catalog.map(ofDataset), ofLedger].join('\nunion all\n'),
  };
}

/** The columns of a change. */
export const changeColumns: readonly DeclaredColumn[] = [
  column(
    'cursor',
    'text',
    'Position of the change in the feed, the same for every reader. reporting.changes continues after this position.',
  ),
  column('dataset', 'text', 'The dataset.'),
  column(
    'change',
    'text',
    'appeared, revised (the row has other values), returned (the row had left), left (a complete response no longer contained the row), unwatched (its target is no longer configured), late (an earlier version of a log row, which is stored but not current), or observed (a reading). For the ledger: turned, unwatched, or withdrawn (a settled state was invalid).',
  ),
  column(
    'happened_at',
    'timestamptz',
    'Time from which the change applies: the start of the version, its end, or the time of the reading.',
  ),
  column('recorded_at', 'timestamptz', 'Recording time of the change.'),
  column('run_id', 'bigint', 'The run that recorded the change. Null: the prober recorded the change.'),
  column(
    'version_id',
    'uuid',
    'The version that started, or the last version if the row left (version_id of the dataset). Null: an interval of the ledger, or a reading whose member was removed.',
  ),
  column('key', 'jsonb', 'The key of the row.'),
  column(
    'content',
    'jsonb',
    'Values of the row after the change, or before the change if the row left, without its key. Null: the row no longer exists.',
  ),
];

function ofDataset(dataset: Dataset): string {
  return dataset.history === 'sample' ? ofReadings(dataset) : ofVersions(dataset, dataset.history);
}

/** Returns the names of the columns outside the key. */
const contentColumns = ({ columns, key, extra }: Dataset) => [
  ...columns.filter(({ name }) => !key.includes(name)).map(({ name }) => name),
  ...(extra === false ? [] : ['extra']),
];

const object = (names: readonly { readonly name: string; readonly value: string }[]) =>
  `jsonb_build_object(${names.map(({ name, value }) => `'${name}', ${value}`).join(', ')})`;

const contentOf = (dataset: Dataset, row: string) =>
  `(select to_jsonb(v) from (select ${contentColumns(dataset)
    .map((name) => `${row}.${name}`)
    .join(', ')}) as v)`;

function ofVersions(dataset: Dataset, history: Exclude<History, 'sample'>): string {
  const { name, key } = dataset;
  const own = keyPositions(dataset);
  const requested = dataset.columns.filter(({ path }) => path.length === 0);
  const heldIn = ({ name: one }: DatasetColumn) => {
    const place = requested.findIndex((column) => column.name === one);
    return place < 0 ? `e.${one}` : `c.request[${place + 1}]`;
  };
  const keyed = dataset.columns.filter((column) => key.includes(column.name));
  const arrays = [
    ...own.map(({ type, array, index }) =>
      array === 'texts' ? `c.texts[${index}:${index}]` : `c.keys[${index}]::${type}[]`,
    ),
    'c.keys[cardinality(c.keys)]::bigint[]',
    'string_to_array(c.kinds, null)',
  ];
  const startsAt = `(c.observed_at + e.shift * interval '1 microsecond')`;
  const same = keyed.map((column) =>
    column.nullable
      ? `coalesce(r.${column.name}, '') = coalesce(${heldIn(column)}, '')`
      : `r.${column.name} = ${heldIn(column)}`,
  );
  // Current and superseded rows have one index each.
  const parts = {
    log: ['r.valid_to is null', 'r.valid_to is not null'],
    series: Object.values(POINT_VALUES),
    state: ['true'],
  } as const;
  const found = (where: string) =>
    `select true as there, r.valid_to as ends, ${contentOf(dataset, 'r')} as content from ${tableRowsSql(dataset)} r where ${same.join(' and ')} and r.valid_from = ${startsAt} and (${where})`;
  const byName = new Map(dataset.columns.map((column) => [column.name, column]));
  const versionId = versionIdSql(dataset, 'valid_from', (column) => {
    const identifying = byName.get(column);
    return identifying ? heldIn(identifying) : startsAt;
  });
  const kinds = Object.entries(CHANGE_KINDS)
    .map(([letter, kind]) => `when '${letter}' then '${kind}'`)
    .join(' ');
  return `select c.commit_number, e.position::int as position, ${CURSOR('e.position')} as cursor, c.dataset, case e.kind ${kinds} end as change,
  case when e.kind in ('l', 'u') then r.ends else ${startsAt} end as happened_at, c.recorded_at, c.run_id,
  ${versionId} as version_id, ${object(keyed.map((column) => ({ name: column.name, value: heldIn(column) })))} as key, r.content
from recorder.changes c
cross join lateral unnest(${arrays.join(', ')}) with ordinality as e(${[...own.map((one) => one.name), 'shift', 'kind', 'position'].join(', ')})
left join lateral (${parts[history].map(found).join(' union all ')} limit 1) r on true
where c.dataset = '${name}'`;
}

/**
 * Returns SQL of the changes of readings. The members of an observation are derived from the member numbers
 * in the change, so that every change of a reading is listed even after the reading was deleted. A member is
 * kept as long as the feed contains the observation. If a member was nevertheless removed, the key lacks the
 * columns of the member.
 */
function ofReadings(dataset: Dataset): string {
  const packing = packingOf(dataset);
  const { name, key } = dataset;
  const names = [
    ...dataset.columns.map(({ name: one, type }) => [one, type] as const),
    ['extra', 'jsonb'] as const,
  ];
  const ofObservation = 'l.scope_id = c.scope_id and l.observed_at = c.observed_at';
  const request = packing.request.map((one, at) => `r.${one.name} = c.request[${at + 1}]`);
  const forms = [
    selectOpenDayReadings(packing, ofObservation),
    selectClosedDayReadings(packing, ofObservation),
    selectRowReadings(packing, [...request, 'r.observed_at = c.observed_at'].join(' and ')),
  ].map((form) => selectOf(form, names));
  const keyValues = [
    ...packing.request.map((one, at) => ({ name: one.name, value: `c.request[${at + 1}]` })),
    ...packing.texts.map((one, at) => ({ name: one.name, value: `e.texts[${at + 1}]` })),
  ];
  const valuesByName = new Map(keyValues.map((one) => [one.name, one.value]));
  const versionId = versionIdSql(
    dataset,
    'observed_at',
    (column) => valuesByName.get(column) ?? 'c.observed_at',
  );
  return `select c.commit_number, e.position::int as position, ${CURSOR('e.position')} as cursor, c.dataset, 'observed' as change,
  c.observed_at as happened_at, c.recorded_at, c.run_id, ${versionId} as version_id,
  ${object(keyValues.filter((one) => key.includes(one.name)))} as key, e.content
from recorder.changes c
cross join lateral (
  select p.position, n.texts, o.content
  -- Unnests an array instead of generate_series, because PostgreSQL estimates 10 rows for an array and 1,000 for a series. With 1,000 rows, each query would be planned again.
  from unnest(array_fill(true, array[c.changes])) with ordinality as p(here, position)
  left join (
    select m.texts, row_number() over (order by m.texts) as position from recorder.reading_members m
    where m.scope_id = c.scope_id and ${hasBitSql(numberOf('m'), 'c.present')}) n on n.position = p.position
  -- Joined by texts, not by numbers: the number of a member may have been retired at the time of the observation. Since the day was closed, the reading has another number.
  left join (
    select ${memberTextsSql(packing, 'r')} as texts, ${contentOf(dataset, 'r')} as content
    from (${forms.join('\nunion all\n')}) r) o on o.texts = n.texts) e
where c.dataset = '${name}'`;
}

const ofLedger = `select c.commit_number, e.position::int as position, ${CURSOR('e.position')} as cursor, c.dataset, e.turn ->> 'change' as change,
  (e.turn ->> 'at')::timestamptz as happened_at, c.recorded_at, c.run_id, null::uuid as version_id, e.turn -> 'key' as key, nullif(e.turn -> 'content', 'null') as content
from recorder.changes c
cross join lateral jsonb_array_elements(c.turns) with ordinality as e(turn, position)
where c.dataset = 'node_health'`;
