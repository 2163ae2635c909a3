import { codeBlocks, documents } from './documents.ts';

/**
 * Pages whose statements are run by other tests on a record: saved queries with expected results, and DuckDB over an
 * export.
 */
const TESTED_ELSEWHERE = [
  'docs/reference/questions.md',
  'docs/how-to/export.md',
  'docs/how-to/analyst-queries.md',
];

/** SQL for administrators of the server, instead of readers. */
const isAdministration = (statement: string) => /^(create|alter|grant) /i.test(statement);

/** Splits a line of a shell into words, up to a redirection, pipe or comment. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [token, quoted, single] of line.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)) {
    if (quoted === undefined && single === undefined && /^(#|[|><&;]|2>)/.test(token)) break;
    words.push(quoted ?? single ?? token);
  }
  return words;
}

/** Calls of the command line in the documents. */
export const commands = [
  ...codeBlocks('sh', 'text').flatMap(({ path, code }) =>
    code
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => ({ path, line: line.replace(/^\s*(?:[A-Z_]+=\S+ )*/, '') })),
  ),
  ...documents().flatMap(({ path, text }) =>
    [...text.matchAll(/`(chain-recorder [a-z][^`]+)`/g)].map(([, line = '']) => ({
      path,
      line: line.replaceAll(/\s+/g, ' '),
    })),
  ),
].filter(({ line }) => /^chain-recorder [a-z]/.test(line));

/** Queries of the commands and of custom rules of alerts. */
const embeddedQueries = () => [
  ...commands.flatMap(({ path, line }) => {
    const [, name, statement = ''] = shellWords(line);
    return name === 'query' && /^(select|with) /.test(statement) && !statement.includes('…')
      ? [{ path, statement }]
      : [];
  }),
  ...codeBlocks('yaml').flatMap(({ path, code }) =>
    [...code.matchAll(/^ *sql: (.+)$/gm)].map(([, statement = '']) => ({ path, statement })),
  ),
];

/** SQL statements of the documents that a reader may run. */
export const statements = [
  ...embeddedQueries(),
  ...codeBlocks('sql').flatMap(({ path, code }) =>
    code
      .replace(/--.*$/gm, '')
      .split(';')
      .map((statement) => ({ path, statement: statement.trim() })),
  ),
  ...documents().flatMap(({ path, text }) =>
    [...text.matchAll(/`(select [^`]+ from (?!read_parquet)[^`]+)`/g)].map(([, statement = '']) => ({
      path,
      statement: statement.replaceAll(/\s+/g, ' '),
    })),
  ),
].filter(
  ({ path, statement }) =>
    statement !== '' && !TESTED_ELSEWHERE.includes(path) && !isAdministration(statement),
);

/** A time for a placeholder of a time. */
export const fillPlaceholders = (statement: string) =>
  statement.replaceAll(/(?<=(?:_at|at) [<>]=? ')…/g, '2026-11-01').replaceAll("'…'", "'x'");
