import type { Dataset } from '../datasets/contract.ts';
import { durationText } from '../duration.ts';
import { recorded } from '../recorded.ts';

type Kind = (typeof recorded)[number]['history'];

const heading = `# The datasets

Made from the catalog by \`npm run docs\`; a test holds it current. What each kind of history offers in \`reporting\`:

| kind | for | in \`reporting\`, for a dataset D |
| --- | --- | --- |
| series | points whose value is revised | \`D\` now, \`D_revisions\`, \`D_as_of(timestamptz)\` |
| log | things that should not change | \`D\` with \`recorded_at\`, \`D_conflicts\`: what was said differently about the same thing, old and new, \`D_as_of(timestamptz)\` |
| state | lists whose members come, change and go | \`D\` now, \`D_history\`, \`D_changes\`, \`D_as_of(timestamptz)\` |
| sample | readings | \`D\` with \`observed_at\`, \`D_as_of(timestamptz)\` |
| ledger | readings kept as intervals in which nothing changed | \`D\` latest, \`D_intervals\` |

Every row but a ledger's also has \`run_id\` (see \`reporting.runs\`) and, where the dataset keeps them, unknown fields in \`extra\`.
`;

const added: Readonly<Record<Kind, string>> = {
  series: '`recorded_at`, `superseded_at`, `vanished_at`',
  log: '`recorded_at`',
  state: '`valid_from`, `valid_to`, `ended_by`',
  sample: '`observed_at`',
  ledger: '`started_at`, `ended_at`, `is_open`, `probes`',
};

/** The data dictionary as Markdown: every dataset, its operations, key and columns. */
export function dictionary(): string {
  return [heading, overview(), ...recorded.map(section)].join('\n');
}

function overview(): string {
  const rows = recorded.map(
    ({ name, history, about }) =>
      `| [\`${name}\`](#${name}) | ${history} | ${about.replaceAll('|', '\\|')} |`,
  );
  return `| dataset | kind | a row |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function section(dataset: (typeof recorded)[number]): string {
  const { name, about, operations, seed, source, key, history, columns } = dataset;
  const conflicts = dataset.history === 'log' ? conflictsLine(dataset) : '';
  const lists = columns.filter(({ element }) => element).map((column) => `\`${name}_${column.name}\``);
  const rows = columns.map(
    (column) =>
      `| \`${column.name}\` | ${column.type}${column.nullable ? '' : ', not null'} | ${column.comment.replaceAll('|', '\\|')} |`,
  );
  const units = source.weight === 0 ? 'no budget units' : `${source.weight} budget units a call`;
  return `## ${name}

${about}

- recorded from: ${operations.map((operation) => `\`${operation}\``).join(', ')} (${seed})
- every ${durationText(source.every)}, ${units}, from ${source.upstream}
- history: ${history} (${added[history]}); natural key: ${key.map((column) => `\`${column}\``).join(', ')}
${conflicts}${lists.length > 0 ? `- lists as rows: ${lists.join(', ')}\n` : ''}
| column | type | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function conflictsLine({ name, single }: Dataset): string {
  const same = single?.map((column) => `\`${column}\``).join(', ');
  return `- what was said differently: \`${name}_conflicts\`${same ? `, also rows of the same ${same}` : ''}\n`;
}
