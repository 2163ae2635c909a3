import { stringify } from 'yaml';
import { getCatalogue } from '../../src/reporting/relations/catalogue.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { describeRelations } from '../../src/reporting/views/metadata-views.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { lakeVersionId } from './duckdb.ts';

/** Every version of a dataset, as the staging model of it has them. */
interface Versions {
  readonly dataset: string;
  /** Suffix of the name of the model: the name of the rows in `reporting`. */
  readonly model: string;
  readonly about: string;
  /** Input of the model: a relation of `reporting`, or a folder of the lake. */
  readonly from: string;
  readonly columns: readonly {
    readonly name: string;
    readonly about?: string;
    readonly needed: boolean;
    /** SQL of the column in the staging model. Default: the column of the same name. */
    readonly from?: string;
    /** PostgreSQL type. Absent for files. */
    readonly type?: string;
    /** The column of a source that has the same values, as `RELATION.COLUMN`. */
    readonly refersTo?: string | null;
    /** Files have its digits in a column of their own, which comes with the first number that fits no DECIMAL. */
    readonly isDecimal?: boolean;
  }[];
  /** Key of a version; null if there is none, as for readings of one instant. */
  readonly key: readonly string[];
  /** Polled so often, ms. */
  readonly every: number;
}

const MINUTE = 60_000;
const HEADS = { yaml: '# Made by "npm run docs".\n', sql: '-- Made by "npm run docs".\n' };

const described = new Map(describeRelations(declaredObjects()).map((one) => [one.relation, one.columns]));
const ofReporting: readonly Versions[] = [...getCatalogue().datasets.values()].map((dataset) => {
  const { name, about, every, key, begins, history, now } = dataset;
  const { name: from } = history ?? now;
  return {
    ...{ dataset: name, model: now.name, about, from, every, key: [...key, begins] },
    columns: (described.get(from) ?? []).map((one) => ({
      ...{
        name: one.column_name,
        about: one.description,
        type: one.type,
        needed: !one.nullable,
        refersTo: one.refers_to,
      },
    })),
  };
});

const everyOf = new Map(ofReporting.map(({ dataset, every }) => [dataset, every]));
const ofLake: readonly Versions[] = warehouseTables.map((table) => {
  const { name, dataset, relation, key, from, columns } = table;
  return {
    ...{
      dataset: name,
      model: relation,
      about: `Every version of ${relation}.`,
      from: name,
      every: everyOf.get(dataset) ?? MINUTE,
    },
    key: [...key, from],
    columns: [
      { name: 'version_id', needed: true, from: lakeVersionId(table) },
      ...columns.map((one) => ({
        ...{ name: one.name, needed: !one.nullable && one.digits === undefined },
        isDecimal: one.type === 'numeric' && one.digits !== 'wide',
      })),
    ],
  };
});

/** Returns the thresholds of the freshness: a warning after three intervals, as in `reporting.findings`, and an error after ten. */
const freshnessOf = (every: number) => {
  const after = (times: number) => ({
    count: Math.max(1, Math.ceil((times * every) / MINUTE)),
    period: 'minute',
  });
  return { warn_after: after(3), error_after: after(10) };
};

const testsOf = (data_tests: readonly unknown[]) => (data_tests.length > 0 ? { data_tests } : {});

/** Sources that other sources refer to. Runs are removed after a while, so that no test requires them. */
const REFERRED = ['chains', 'nodes'];

/** Returns the dbt test that all values of a column are in the column that it refers to. */
function relationships(refersTo: string | null | undefined): object[] {
  const [relation = '', field = ''] = refersTo?.split('.') ?? [];
  if (!REFERRED.includes(relation)) return [];
  return [{ relationships: { arguments: { to: `source('reporting', '${relation}')`, field } } }];
}

function reportingSources(): string {
  const looked = (dataset: string) =>
    // A target that is not on offer cannot be late; what is not watched is not waited for.
    `select coalesce(min(coalesce(last_success_at, requested_since)), now()) from reporting.freshness where dataset = '${dataset}' and unsupported_reason is null`;
  const tables = ofReporting.map(({ dataset, about, from, every, columns }) => ({
    name: from,
    description: about,
    config: { loaded_at_query: looked(dataset), freshness: freshnessOf(every) },
    columns: columns.map(({ name, about: description, needed, refersTo }) => ({
      name,
      description,
      data_tests: [
        ...(needed ? ['not_null'] : []),
        ...(name === 'version_id' ? ['unique'] : []),
        ...relationships(refersTo),
      ],
    })),
  }));
  const kept = { name: 'freshness_by_dataset', description: 'The freshness of each dataset.' };
  const referred = REFERRED.map((name) => ({
    name,
    columns: (described.get(name) ?? []).map((one) => ({
      name: one.column_name,
      description: one.description,
      ...testsOf(one.key_position === 1 ? ['not_null', 'unique'] : []),
    })),
  }));
  const source = { name: 'reporting', schema: 'reporting', tables: [...tables, kept, ...referred] };
  return HEADS.yaml + stringify({ version: 2, sources: [source] }, { lineWidth: 0 });
}

const LAKE = "{{ env_var('LAKE') }}";

function lakeSources(): string {
  const exported = `select max(exported_at::timestamptz) from read_json('${LAKE}/manifest.json')`;
  const tables = ofLake.map(({ from, about, columns }) => ({
    name: from,
    description: about,
    columns: columns.flatMap(({ name, from: computed }) => (computed === undefined ? [{ name }] : [])),
  }));
  const source = {
    ...{ name: 'lake', schema: 'main' },
    config: {
      loaded_at_query: exported,
      freshness: freshnessOf(60 * MINUTE),
      meta: {
        external_location: `read_parquet('${LAKE}/{name}/**/*.parquet', hive_partitioning = true, union_by_name = true)`,
      },
    },
    tables,
  };
  return HEADS.yaml + stringify({ version: 2, sources: [source] }, { lineWidth: 0 });
}

/** Tests of each staging model. */
function models(all: readonly Versions[]): string {
  const described = all.map(({ model, about, columns, key }) => ({
    name: `stg_${model}`,
    description: about,
    data_tests: [{ one_row_a_version: { arguments: { key: key.join(', ') } } }],
    columns: columns
      .filter(({ name, needed }) => needed && (key.includes(name) || name === 'version_id'))
      .map(({ name }) => ({
        name,
        data_tests: name === 'version_id' ? ['not_null', 'unique'] : ['not_null'],
      })),
  }));
  return HEADS.yaml + stringify({ version: 2, models: described }, { lineWidth: 0 });
}

const listOf = ({ columns }: Versions) =>
  columns.map(({ name, from }) => (from === undefined ? name : `${from} as ${name}`)).join(', ');

const ofRelation = (one: Versions) =>
  `${HEADS.sql}select ${listOf(one)}\nfrom {{ source('reporting', '${one.from}') }}\n`;

/** Datasets with an incremental model: one of each kind of history that has versions. */
const INCREMENTAL: ReadonlySet<string> = new Set(['validators', 'metric_points', 'proposed_blocks']);
const INCREMENTAL_CONFIG = "{{ config(materialized='incremental', unique_key='version_id') }}\n";

/** Returns an incremental model that reads the versions of the keys that changed after its own cursor, or all if it is empty. */
function ofChanges(one: Versions): string {
  const key = one.columns.filter(({ name, needed }) => needed && one.key.slice(0, -1).includes(name));
  const values = key.map(({ name, type }) => `(key ->> '${name}')::${type} as ${name}`);
  return `${HEADS.sql}-- Every version of ${one.model}, kept up to date by the change feed. A run reads only the versions of keys that changed since the
-- last one; commits become visible in the order of the feed, so that none is missed. A cursor that is older than changes.keep is
-- refused: then run once with --full-refresh.
${INCREMENTAL_CONFIG}select versions.*, feed.cursor as feed_cursor
from {{ source('reporting', '${one.from}') }} versions
{% if is_incremental() %}
join (
  select distinct ${values.join(', ')}
  from reporting.changes((
    select feed_cursor from {{ this }} order by split_part(feed_cursor, '.', 1)::bigint desc nulls last limit 1), 2147483647)
  where dataset = '${one.dataset}'
  union
  select ${key.map(({ name }) => name).join(', ')} from {{ source('reporting', '${one.from}') }} where not exists (select from {{ this }})) changed using (${key.map(({ name }) => name).join(', ')})
{% endif %}
left join (select cursor from reporting.change_commits order by commit_number desc limit 1) feed on true
`;
}

/** Returns an incremental model that reads the rows of the exports after its last run, or all if it is empty. */
const ofNewFiles = (one: Versions): string =>
  `${INCREMENTAL_CONFIG}${ofFolder(one, ['exported_at'], '{% if is_incremental() %}\nwhere exported_at > (select max(exported_at) from {{ this }}) or not exists (select 1 from {{ this }})\n{% endif %}\n')}`;

const incrementals = (project: string, all: readonly Versions[], body: (one: Versions) => string) =>
  all
    .filter(({ dataset }) => INCREMENTAL.has(dataset))
    .map((one): [string, string] => [`${project}/models/incremental/${one.dataset}_versions.sql`, body(one)]);

/** @param where SQL of the rows that are read, with a line break at its end */
function ofFolder(one: Versions, more: readonly string[] = [], where = ''): string {
  const exact = one.columns.filter(({ isDecimal }) => isDecimal).map(({ name }) => `${name}_exact`);
  const newest =
    `select ${[listOf(one), ...exact, ...more].join(', ')}\nfrom {{ source('lake', '${one.from}') }}\n${where}` +
    `qualify row_number() over (partition by ${one.key.join(', ')} order by exported_at desc) = 1\n`;
  const head = `${HEADS.sql}-- A version can be in several files: the newest row counts.\n`;
  if (exact.length === 0) return head + newest;
  const absent = exact.map((name) => `cast(null as varchar) as ${name}`).join(', ');
  return (
    `${head}-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.\n` +
    `select versions.*\nfrom (select ${absent}) absent, lateral (\n${newest}) versions\n`
  );
}

/** The generated files of the dbt projects, by their path below `examples/dbt`. */
export const dbtStarters = (): ReadonlyMap<string, string> =>
  new Map([
    ['reporting/models/sources.yml', reportingSources()],
    ['reporting/models/staging/staging.yml', models(ofReporting)],
    ...ofReporting.map((one): [string, string] => [
      `reporting/models/staging/stg_${one.model}.sql`,
      ofRelation(one),
    ]),
    ...incrementals('reporting', ofReporting, ofChanges),
    ['lake/models/sources.yml', lakeSources()],
    ['lake/models/staging/staging.yml', models(ofLake)],
    ...ofLake.map((one): [string, string] => [`lake/models/staging/stg_${one.model}.sql`, ofFolder(one)]),
    ...incrementals('lake', ofLake, ofNewFiles),
  ]);
