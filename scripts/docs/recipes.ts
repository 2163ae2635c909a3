import {
  optionText,
  type SavedQuery,
  savedQueries,
  savedQueryParameters,
  savedQuerySql,
  type Values,
} from '../../src/reporting/reports/saved-queries.ts';
import { columnsTable, parametersTable, reportsTable } from './dictionary.ts';

const heading = `# Questions: saved queries with results

Generated from the declarations by \`npm run docs\`. Each question is a view or a function in \`reporting\` and a report of the same
name: \`chain-recorder report\` lists them, \`report NAME\` runs one, as a table, CSV, JSON or an HTML page. A test runs every statement
of this page, in SQL and by \`report\`, and compares the results with the model of the simulated network.

- Windows have an inclusive start and an exclusive end. All days are days of UTC.
- Amounts are in base units (nAVAX, wei) and in tokens beside them. Both are exact.
- \`as_of\` reads the record as of a past time.
- A question without a correct answer is refused with the reason, such as a sum of distinct counts.
- Replace \`YOURS\` or \`YOUR\` with your own ids.
`;

/**
 * Renders the page of saved queries as Markdown: every query with its parameters, its columns, and examples
 * to copy.
 */
export function recipes(): string {
  const parts = savedQueries();
  const contents = parts.map(
    (part) => `- ${part.heading}: ${part.queries.map(({ name }) => `[${name}](#${name})`).join(', ')}`,
  );
  const sections = parts.map((part) => `## ${part.heading}\n\n${part.queries.map(section).join('\n')}`);
  return [
    heading,
    `${contents.join('\n')}\n`,
    ...sections,
    `## All reports\n\nAll reports have the option \`--format\`.\n\n${reportsTable()}`,
  ].join('\n');
}

function section(savedQuery: SavedQuery): string {
  const { name, answer, examples } = savedQuery;
  const parameters = savedQueryParameters(savedQuery);
  return `### ${name}

${answer.comment}

${examples.map(({ text, values }) => example(savedQuery, text, values)).join('\n')}
${parameters.length > 0 ? `${parametersTable(parameters)}\n` : ''}${columnsTable(answer.columns)}`;
}

function example(savedQuery: SavedQuery, text: string, values: Values): string {
  const options = Object.entries(values).map(([name, value]) => ` ${optionText(name)}${value}`);
  return `**${text}**

\`\`\`sql
${savedQuerySql(savedQuery, values)};
\`\`\`

\`\`\`sh
chain-recorder report ${savedQuery.name}${options.join('')}
\`\`\`
`;
}
