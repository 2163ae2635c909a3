import type { Dataset, EveryNode } from '../../src/datasets/contract.ts';
import {
  type Declared,
  type DeclaredColumn,
  type DeclaredFunction,
  isPublic,
  signature,
} from '../../src/db/declared.ts';
import { formatDuration } from '../../src/lib/duration.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { reports, savedQueries } from '../../src/reporting/reports/saved-queries.ts';
import { datasetViews } from '../../src/reporting/views/dataset-views.ts';
import { listSharedObjects } from '../../src/reporting/views/declared-objects.ts';
import { markdownTable } from './markdown-table.ts';
import { operationsText } from './operations.ts';

type Kind = (typeof recorded)[number]['history'];

const datasetsHeading = `# Datasets

The recorded data. Generated from the declarations by \`npm run docs\`. Intervals and URLs are [settings](../settings.md). The views beside the
datasets: [relations](../relations.md).

| kind | for | in \`reporting\`, for a dataset D |
| --- | --- | --- |
| series | points whose value is revised | \`D\` (current values), \`D_history\`, \`D_as_of(timestamptz)\` |
| log | entries that should not change | \`D\` (current entries), \`D_history\` (with earlier versions of an entry), \`D_as_of(timestamptz)\` |
| state | lists whose members join, change and leave | \`D\` (current members), \`D_history\`, \`D_changes\`, \`D_as_of(timestamptz)\` |
| sample | readings, which never change | \`D\` with \`observed_at\`, \`D_daily\` (averages) where there are numbers |
| ledger | readings stored as intervals without change | \`D\` (latest), \`D_history\`, \`D_as_of(timestamptz)\` |

- \`D_history\` has all versions of all rows. A version was observed from \`valid_from\` to \`valid_to\` (null: it is current); \`ended_by\` is the reason of its end.
- \`version_id\` identifies a version among those of all datasets, and is the same in every database and file that has the version. It is a hash of the dataset, the natural
  key and \`valid_from\` (readings: \`observed_at\`).
- \`reporting.relations\` and \`reporting.columns\` describe all of this for tools: grain, key, role, unit, meaning of null and references of each column.
  \`reporting.nodes\`, \`reporting.chains\` and \`reporting.calendar\` are the dimensions.
- A list in a column also has a view with a row for each element of every version, \`reporting_lists.D_LIST\`. Elements of current rows have no \`valid_to\`. Elements as of a time:
  \`join reporting.D_as_of(timestamptz) using (version_id)\`. If few rows are needed, add the key, \`using (KEY, version_id)\`, so that an index finds their elements.
- A query of a time before the first recording raises an error that contains the start of the record. Runs, coverage and freshness have no as-of function.
- \`reporting.runs\` with \`finished_at <= …\` shows the runs that had ended by a time. A row changes while its run is active.
- The rows of datasets that every node reports are recorded for each node, as \`node_D\`, \`node_D_history\`, \`node_D_changes\` and \`node_D_as_of(timestamptz)\`. \`D\`
  and \`D_as_of(timestamptz)\` have one row per entity, with the values of most nodes, the nodes with these values (\`reporting_nodes\`) and the nodes with other
  values (\`dissenting_nodes\`; null: no node). So \`validators\` contains the validators, and \`node_validators\` the validators that each node listed.
- \`reporting.disagreements()\` lists the values in which each node differs from most nodes, and the responses of the data service that contradict each other. In commands and in the configuration a dataset is always \`D\`.
- \`p_blockchains\` contains the blockchains that nodes list (\`platform.getBlockchains\`), and \`blockchains\` the blockchains that the
  data service lists.
- A dataset with a column \`node\` has the rows of each node: with two nodes every peer appears twice. Filter by a node before you count.
- Every row but that of a ledger has \`run_id\` (see \`reporting.runs\`) and, where the dataset stores them, unknown fields in \`extra\`.
`;

const relationsHeading = `# Relations

Views and functions of \`reporting\` besides those of the [datasets](datasets/README.md). Generated from the declarations by \`npm run docs\`.
`;

const added: Readonly<Record<Kind, string>> = {
  series: '`valid_from`, `valid_to`, `ended_by`, `vanished`',
  log: '`valid_from`, `valid_to`, `ended_by`, `differs`',
  state: '`valid_from`, `valid_to`, `ended_by`',
  sample: '`observed_at`',
  ledger: '`started_at`, `ended_at`, `is_open`, `probes`',
};

/**
 * Renders the pages of the data dictionary as Markdown: an index of the datasets, a page for each, and the
 * other relations.
 * @returns texts by their path below docs/reference
 */
export function dictionaryPages(): ReadonlyMap<string, string> {
  return new Map([
    ['datasets/README.md', [datasetsHeading, overview()].join('\n')],
    ...recorded.map((dataset): [string, string] => [`datasets/${dataset.name}.md`, section(dataset)]),
    ['relations.md', relationsPage()],
  ]);
}

function relationsPage(): string {
  const written = listSharedObjects().filter(isPublic);
  const views = written.filter(
    (object) => object.kind === 'view' && recorded.every(({ name }) => name !== object.name),
  );
  const functions = written.filter((object) => object.kind === 'function');
  return [
    relationsHeading,
    `## Views\n\n${contents(views)}`,
    ...views.map(objectSection),
    `## Functions\n\nFunctions have parameters, such as \`select * from reporting.node_uptime('2026-11-01+00', '2026-12-01+00')\`. Optional parameters can be\nomitted or given by name: \`as_of => '2026-11-20+00'\`.\n\n${contents(functions)}`,
    ...functions.map(objectSection),
  ].join('\n');
}

const overview = () =>
  markdownTable(
    ['dataset', 'kind', 'a row'],
    recorded.map(({ name, history, about }) => [`[\`${name}\`](${name}.md)`, history, about]),
  );

const contents = (objects: readonly Declared[]) =>
  markdownTable(
    ['name', 'description'],
    objects.map(({ name, comment }) => [`[\`${name}\`](#${name})`, comment]),
  );

/** Renders the section of a view or function: its comment, its parameters, and the columns of its rows. */
function objectSection(object: Declared): string {
  const { name, comment, columns } = object;
  const report = reportOf.get(name);
  const linked = report === undefined ? '' : `\n- report: [\`${report}\`](questions.md#${report})\n`;
  const value =
    object.kind === 'function' && object.value !== undefined
      ? `\n- returns one value: ${object.value}\n`
      : '';
  const parameters = object.kind === 'function' ? `${value}\n${parametersTable(object.parameters)}` : '';
  return `### ${name}\n\n${comment}\n${linked}${parameters}${columns.length > 0 ? `\n${columnsTable(columns)}` : ''}`;
}

export const parametersTable = (parameters: DeclaredFunction['parameters']) =>
  markdownTable(
    ['parameter', 'type', 'default', 'description'],
    parameters.map(({ name, type, preset, comment }) => [
      `\`${name}\``,
      type,
      preset === undefined ? 'required' : `\`${preset}\``,
      comment,
    ]),
  );

export const columnsTable = (columns: readonly Pick<DeclaredColumn, 'name' | 'type' | 'comment'>[]) =>
  markdownTable(
    ['column', 'type', 'description'],
    columns.map(({ name, type, comment }) => [`\`${name}\``, type, comment]),
  );

/** The names of reports by the name of their view or function. */
const reportOf = new Map(
  savedQueries().flatMap((part) => part.queries.map(({ name, answer }) => [answer.name, name])),
);

/** Renders the table of all reports, for the page of saved queries. */
export function reportsTable(): string {
  const ready = new Set(reportOf.values());
  const rows = reports().map(({ name, answers, takes }) => [
    ready.has(name) ? `[\`${name}\`](#${name})` : `\`${name}\``,
    answers,
    takes.map((option) => `\`${option}\``).join(', '),
  ]);
  return markdownTable(['report', 'content', 'options'], rows);
}

function section(dataset: (typeof recorded)[number]): string {
  const { name, about, source, key, history, columns } = dataset;
  const contradictions = 'single' in dataset && dataset.single ? contradictionsLine(dataset.single) : '';
  const inReporting = dataset.history === 'ledger' ? '' : viewsLine(dataset);
  const lists = listsOf(dataset).map((list) => `\`${list}\``);
  const merged = 'everyNode' in dataset && dataset.everyNode ? mergedLine(name, dataset.everyNode) : '';
  const units = source.weight === 0 ? 'no budget units' : `${source.weight} budget units per call`;
  return `# ${name}

${about}

- recorded from ${operationsText(dataset)}
- every ${formatDuration(source.every)}, ${units}
- history: ${history} (${added[history]}); natural key: ${key.map((column) => `\`${column}\``).join(', ')}
${inReporting}${contradictions}${merged}${lists.length > 0 ? `- lists as rows, in \`reporting_lists\`: ${lists.join(', ')}\n` : ''}
${columnsTable(columns.map((column) => ({ ...column, type: `${column.type}${column.nullable ? '' : ', not null'}` })))}`;
}

/** Returns the views with one row per list element. */
const listsOf = ({ relation, columns }: Pick<Dataset, 'relation' | 'columns'>) =>
  columns.filter(({ element }) => element).map((column) => `${relation}_${column.name}`);

/** Renders the line with the objects of `reporting` for a dataset, without the views of its lists. */
function viewsLine(dataset: Dataset): string {
  const lists = listsOf(dataset);
  const merged = dataset.everyNode ? [dataset.name, `${dataset.name}_as_of`] : [];
  const others = datasetViews(dataset).filter(
    (one) => isPublic(one) && !lists.includes(one.name) && !merged.includes(one.name),
  );
  const names = others.map((object) => `\`${signature(object).replace('reporting.', '')}\``);
  return `- in \`reporting\`: ${names.join(', ')}\n`;
}

function contradictionsLine(single: readonly string[]): string {
  const same = single.map((column) => `\`${column}\``).join(', ');
  return `- rows with the same ${same} contradict each other: \`disagreements\`\n`;
}

function mergedLine(name: string, { own }: EveryNode): string {
  const columns = own.map((column) => `\`${column}\``).join(', ');
  return `- over all nodes: \`${name}\`, \`${name}_as_of(timestamptz)\`${columns ? `; different by node, and not compared: ${columns}` : ''}\n`;
}
