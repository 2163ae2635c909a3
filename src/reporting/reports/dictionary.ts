import type { Dataset, EveryNode } from '../../datasets/contract.ts';
import { type Declared, type DeclaredFunction, signature } from '../../db/declared.ts';
import { formatDuration } from '../../lib/duration.ts';
import { recorded } from '../recorded-datasets.ts';
import { datasetViews } from '../views/dataset-views.ts';
import { listSharedObjects } from '../views/declared-objects.ts';
import { operationsText } from './operations.ts';
import { questions, reports } from './questions.ts';

type Kind = (typeof recorded)[number]['history'];

const heading = `# The data dictionary

Everything that \`reporting\` holds: [the datasets](#the-datasets), [views beside them](#views), [functions](#functions), and what
[reports](#reports) answer. Made from the declarations by \`npm run docs\`; a test holds it current. Where the services are is said
in [the settings](settings.md); how often each dataset is recorded can be changed there too.

What each kind of history offers in \`reporting\`:

| kind | for | in \`reporting\`, for a dataset D |
| --- | --- | --- |
| series | points whose value is revised | \`D\` now, \`D_revisions\` (of it \`D_last\` and \`D_replaced\`: the last value of every point, and those before), \`D_as_of(timestamptz)\` |
| log | things that should not change | \`D\` with \`recorded_at\`, \`D_conflicts\`: what was said differently about the same thing, old and new, \`D_as_of(timestamptz)\` |
| state | lists whose members come, change and go | \`D\` now, \`D_history\`, \`D_changes\`, \`D_as_of(timestamptz)\` |
| sample | readings | \`D\` with \`observed_at\`, \`D_as_of(timestamptz)\` |
| ledger | readings kept as intervals in which nothing changed | \`D\` latest, \`D_intervals\`, \`D_as_of(timestamptz)\` |

A list in a column also has a view of its elements, \`D_LIST\`, and \`D_LIST_as_of(timestamptz)\`. A moment before the first recording
is an error that says since when there is a record. Runs, coverage and freshness have no as-of: they tell how the recording stands.
Of \`reporting.runs\`, \`where finished_at <= …\` tells what had ended by a moment; a run's row changes while it runs, and runs that
wrote nothing are counted up by day after a week.

A dataset with a column \`node\` has the rows of each node: with two nodes every validator is there twice, so name a node before you count or add up.
What every node tells of the same things also has \`network_D\`: one row a thing as most nodes say it, with \`nodes\` (who says so) and
\`disagreeing\` (who says otherwise, and what; null: nobody). Of lists, a node disagrees that was asked lately and completely and has said
otherwise, or not listed the thing, for an interval; of logs, one that says something else; of readings, one that says something else
of the same height. Of logs, \`D_disagreements\` has only what nodes say differently, without comparing the rows of years.

Every row but a ledger's also has \`run_id\` (see \`reporting.runs\`) and, where the dataset keeps them, unknown fields in \`extra\`.
`;

const added: Readonly<Record<Kind, string>> = {
  series: '`recorded_at`, `superseded_at`, `vanished_at`',
  log: '`recorded_at`',
  state: '`valid_from`, `valid_to`, `ended_by`',
  sample: '`observed_at`',
  ledger: '`started_at`, `ended_at`, `is_open`, `probes`',
};

/**
 * Renders the data dictionary as Markdown: every dataset, view, function and report, with keys, columns and
 * parameters.
 */
export function dictionary(): string {
  const written = listSharedObjects();
  const views = written.filter(
    (object) => object.kind === 'view' && recorded.every(({ name }) => name !== object.name),
  );
  const functions = written.filter((object) => object.kind === 'function');
  return [
    heading,
    overview(),
    ...recorded.map(section),
    `## Views\n\nWhat the recorder tells of the record, of the health of nodes and of findings.\n\n${contents(views)}`,
    ...views.map(objectSection),
    `## Functions\n\nTo be asked with values, such as \`select * from reporting.node_uptime('2026-11-01+00', '2026-12-01+00')\`. Parameters that are not\nneeded may be left out, or given by name: \`as_of => '2026-11-20+00'\`.\n\n${contents(functions)}`,
    ...functions.map(objectSection),
    reportsSection(),
  ].join('\n');
}

function overview(): string {
  const rows = recorded.map(
    ({ name, history, about }) => `| [\`${name}\`](#${name}) | ${history} | ${cell(about)} |`,
  );
  return `## The datasets\n\n| dataset | kind | a row |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function contents(objects: readonly Declared[]): string {
  const rows = objects.map(({ name, comment }) => `| [\`${name}\`](#${name}) | ${cell(comment)} |`);
  return `| in \`reporting\` | what it is |\n| --- | --- |\n${rows.join('\n')}\n`;
}

/** Renders the section of a view or function: its comment, its parameters, and the columns of its rows. */
function objectSection(object: Declared): string {
  const { name, comment, columns } = object;
  const report = reportOf.get(name);
  const told = report === undefined ? '' : `\n- report: [\`${report}\`](recipes.md#${report})\n`;
  const rows = columns.map((column) => `| \`${column.name}\` | ${column.type} | ${cell(column.comment)} |`);
  const table =
    rows.length > 0 ? `\n| column | type | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n` : '';
  return `### ${name}\n\n${comment}\n${told}${object.kind === 'function' ? parametersOf(object) : ''}${table}`;
}

function parametersOf({ parameters, value }: DeclaredFunction): string {
  const rows = parameters.map(
    ({ name, type, preset, comment }) =>
      `| \`${name}\` | ${type} | ${preset === undefined ? 'required' : `\`${preset}\``} | ${cell(comment)} |`,
  );
  const table = `\n| parameter | type | unless given | what it is |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
  return value === undefined ? table : `\n- gives one value: ${value}\n${table}`;
}

/** The names of reports by the name of their view or function. */
const reportOf = new Map(
  questions().flatMap((part) => part.questions.map(({ name, answer }) => [answer.name, name])),
);

function reportsSection(): string {
  const ready = new Set(reportOf.values());
  const rows = reports().map(({ name, answers, takes }) => {
    const told = ready.has(name) ? `[\`${name}\`](recipes.md#${name})` : `\`${name}\``;
    return `| ${told} | ${cell(answers)} | ${takes.map((option) => `\`${option}\``).join(', ')} |`;
  });
  return `## Reports

Asked by \`chain-recorder report NAME\`; options in brackets may be left out. All of them take \`--format\`.

| report | answers | takes |
| --- | --- | --- |
${rows.join('\n')}
`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');

function section(dataset: (typeof recorded)[number]): string {
  const { name, about, source, key, history, columns } = dataset;
  const conflicts = dataset.history === 'log' ? conflictsLine(dataset) : '';
  const inReporting = dataset.history === 'ledger' ? '' : viewsLine(dataset);
  const lists = listsOf(dataset).map((list) => `\`${list}\``);
  const network = 'everyNode' in dataset && dataset.everyNode ? networkLine(name, dataset.everyNode) : '';
  const rows = columns.map(
    (column) =>
      `| \`${column.name}\` | ${column.type}${column.nullable ? '' : ', not null'} | ${cell(column.comment)} |`,
  );
  const units = source.weight === 0 ? 'no budget units' : `${source.weight} budget units a call`;
  return `### ${name}

${about}

- recorded from ${operationsText(dataset)}
- every ${formatDuration(source.every)}, ${units}
- history: ${history} (${added[history]}); natural key: ${key.map((column) => `\`${column}\``).join(', ')}
${inReporting}${conflicts}${network}${lists.length > 0 ? `- lists as rows: ${lists.join(', ')}\n` : ''}
| column | type | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

/** Returns the views with one row per list element. */
const listsOf = ({ name, columns }: Pick<Dataset, 'name' | 'columns'>) =>
  columns.filter(({ element }) => element).map((column) => `${name}_${column.name}`);

/** Renders the line with the objects of `reporting` for a dataset, without the views of its lists. */
function viewsLine(dataset: Dataset): string {
  const lists = listsOf(dataset);
  const others = datasetViews(dataset).filter((object) => !lists.includes(object.name));
  const names = others.map((object) => `\`${signature(object)}\``);
  return `- in \`reporting\`: ${names.join(', ')}\n`;
}

function conflictsLine({ name, single }: Dataset): string {
  const same = single?.map((column) => `\`${column}\``).join(', ');
  return `- what was said differently: \`${name}_conflicts\`${same ? `, also rows of the same ${same}` : ''}\n`;
}

function networkLine(name: string, { own }: EveryNode): string {
  const columns = own.map((column) => `\`${column}\``).join(', ');
  return `- what nodes say of the same: \`network_${name}\`${columns ? `; each node's own, and not compared: ${columns}` : ''}\n`;
}
