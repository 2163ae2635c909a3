import { stringify } from 'yaml';
import { getCatalogue } from '../../src/reporting/relations/catalogue.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';

/** Every version of a dataset, as the staging model of it has them. */
interface Versions {
  readonly dataset: string;
  readonly about: string;
  /** Input of the model: a relation of `reporting`, or a folder of the lake. */
  readonly from: string;
  readonly columns: readonly {
    readonly name: string;
    readonly about?: string;
    readonly needed: boolean;
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

const ofReporting: readonly Versions[] = [...getCatalogue().datasets.values()].map((dataset) => {
  const { name, about, every, key, begins, history, now } = dataset;
  const { name: from, columns } = history ?? now;
  return {
    ...{ dataset: name, about, from, every, key: [...key, begins] },
    columns: columns.map((one) => ({
      ...{ name: one.name, about: one.comment, needed: one.notNull === true },
    })),
  };
});

const everyOf = new Map(ofReporting.map(({ dataset, every }) => [dataset, every]));
const ofLake: readonly Versions[] = warehouseTables.map(({ name, dataset, key, from, columns }) => ({
  ...{ dataset: name, about: `Every version of ${name}.`, from: name, every: everyOf.get(dataset) ?? MINUTE },
  key: [...key, from],
  columns: columns.map((one) => ({
    ...{ name: one.name, needed: !one.nullable && one.digits === undefined },
    isDecimal: one.type === 'numeric' && one.digits !== 'wide',
  })),
}));

/** Said to be late, as `reporting.findings` does, after three intervals, and wrong after ten. */
const freshnessOf = (every: number) => {
  const after = (times: number) => ({
    count: Math.max(1, Math.ceil((times * every) / MINUTE)),
    period: 'minute',
  });
  return { warn_after: after(3), error_after: after(10) };
};

function reportingSources(): string {
  const looked = (dataset: string) =>
    // A target that is not on offer cannot be late; what is not watched is not waited for.
    `select coalesce(min(coalesce(last_success_at, requested_since)), now()) from reporting.freshness where dataset = '${dataset}' and unsupported_reason is null`;
  const tables = ofReporting.map(({ dataset, about, from, every, columns }) => ({
    name: from,
    description: about,
    config: { loaded_at_query: looked(dataset), freshness: freshnessOf(every) },
    columns: columns.map(({ name, about: description }) => ({ name, description })),
  }));
  const kept = { name: 'freshness_by_dataset', description: 'How current the record of each dataset is.' };
  const source = { name: 'reporting', schema: 'reporting', tables: [...tables, kept] };
  return HEADS.yaml + stringify({ version: 2, sources: [source] }, { lineWidth: 0 });
}

const LAKE = "{{ env_var('LAKE') }}";

function lakeSources(): string {
  const exported = `select max(exported_at::timestamptz) from read_json('${LAKE}/manifest.json')`;
  const tables = ofLake.map(({ from, about, columns }) => ({
    name: from,
    description: about,
    columns: columns.map(({ name }) => ({ name })),
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
  const described = all.map(({ dataset, about, columns, key }) => ({
    name: `stg_${dataset}`,
    description: about,
    data_tests: [{ one_row_a_version: { arguments: { key: key.join(', ') } } }],
    columns: columns
      .filter(({ name, needed }) => needed && key.includes(name))
      .map(({ name }) => ({ name, data_tests: ['not_null'] })),
  }));
  return HEADS.yaml + stringify({ version: 2, models: described }, { lineWidth: 0 });
}

const listOf = ({ columns }: Versions) => columns.map(({ name }) => name).join(', ');

const ofRelation = (one: Versions) =>
  `${HEADS.sql}select ${listOf(one)}\nfrom {{ source('reporting', '${one.from}') }}\n`;

function ofFolder(one: Versions): string {
  const exact = one.columns.filter(({ isDecimal }) => isDecimal).map(({ name }) => `${name}_exact`);
  const newest =
    `select ${[listOf(one), ...exact].join(', ')}\nfrom {{ source('lake', '${one.from}') }}\n` +
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
      `reporting/models/staging/stg_${one.dataset}.sql`,
      ofRelation(one),
    ]),
    ['lake/models/sources.yml', lakeSources()],
    ['lake/models/staging/staging.yml', models(ofLake)],
    ...ofLake.map((one): [string, string] => [`lake/models/staging/stg_${one.dataset}.sql`, ofFolder(one)]),
  ]);
