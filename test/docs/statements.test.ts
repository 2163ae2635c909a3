import type { Command } from 'commander';
import { describe, expect, it as plainIt } from 'vitest';
import { parse } from 'yaml';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { commandLine } from '../../src/cli/program.ts';
import { validateConfig } from '../../src/config/load.ts';
import { withDatabase } from '../support/fixture.ts';
import { codeBlocks, documents } from './documents.ts';

const { it, sql } = withDatabase();

/** Pages whose statements other tests run, on a record: the truth of saved queries, and DuckDB over an export. */
const TESTED_ELSEWHERE = ['docs/reference/questions.md', 'docs/how-to/export.md'];

/** SQL of people who administer the server, instead of readers. */
const isAdministration = (statement: string) => /^(create|alter|grant) /i.test(statement);

/** Splits a line of a shell into words, up to a redirection, pipe or comment. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [token, quoted, single] of line.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)) {
    if (quoted === undefined && single === undefined && /^(#|[|><&;]|2>)/.test(token)) break;
    words.push(quoted ?? single ?? token);
  }
  return words;
}

const commands = [
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

const statements = [
  ...embeddedQueries(),
  ...codeBlocks('sql').flatMap(({ path, code }) =>
    code
      .replace(/--.*$/gm, '')
      .split(';')
      .map((statement) => ({ path, statement: statement.trim() })),
  ),
  ...documents().flatMap(({ path, text }) =>
    [...text.matchAll(/`(select [^`]+ from [^`]+)`/g)].map(([, statement = '']) => ({
      path,
      statement: statement.replaceAll(/\s+/g, ' '),
    })),
  ),
].filter(
  ({ path, statement }) =>
    statement !== '' && !TESTED_ELSEWHERE.includes(path) && !isAdministration(statement),
);

/** A time for the placeholder of one. */
const fillPlaceholders = (statement: string) =>
  statement.replaceAll(/(?<=(?:_at|at) [<>]=? ')…/g, '2026-11-01').replaceAll("'…'", "'x'");

describe('SQL statements of the documents', () => {
  it('are found', () => {
    expect(statements.length).toBeGreaterThan(15);
  });

  it.each(statements)('$path: $statement', async ({ statement }) => {
    const run = sql.begin(async (transaction) => {
      await transaction.unsafe('set local role recorder_reader; set local search_path to reporting, public');
      await transaction.unsafe(fillPlaceholders(statement));
    });
    await run.catch((error: unknown) => {
      // An empty database refuses times before its record.
      if (
        !/nothing (is|was) recorded|no record|before the (first|record)|recorded since|is not in this database/.test(
          String(error),
        )
      )
        throw error;
    });
  });
});

/** Returns the command line without its actions. */
function parser(): Command {
  const program = commandLine().configureOutput({ writeErr: () => {} });
  for (const command of program.commands)
    command
      .action(() => {})
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
  return program;
}

describe('commands of the documents', () => {
  plainIt('are found', () => {
    expect(commands.length).toBeGreaterThan(50);
  });

  plainIt.each(commands)('$path: $line', async ({ line }) => {
    await parser().parseAsync(shellWords(line).slice(1), { from: 'user' });
  });
});

describe('settings of the documents', () => {
  const examples = codeBlocks('yaml')
    .filter(({ path }) => path !== 'docs/reference/metrics.md')
    .map(({ path, code }) => ({ path, code, value: parse(code) }));

  plainIt('are found', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  plainIt.each(examples)('$path: $code', ({ value }) => {
    validateConfig({ network: 'mainnet', ...value }, catalogNames, 'recorder.yaml');
  });
});
