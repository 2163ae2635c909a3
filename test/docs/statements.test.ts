import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it as plainIt } from 'vitest';
import { parse } from 'yaml';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { commandLine } from '../../src/cli/program.ts';
import { validateConfig } from '../../src/config/load.ts';
import { withDatabase } from '../support/fixture.ts';
import { commands, fillPlaceholders, shellWords, statements } from './documented-statements.ts';
import { codeBlocks } from './documents.ts';

const { it, sql } = withDatabase();

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

/** Files from which a reader may copy SQL, or see its result: documents, examples, views and pages. */
const FILES = ['*.md', 'examples', 'src/reporting', 'src/server', 'src/alerts'];
/** The sum of one subnet per row. */
const SUMS_OF_ONE_SUBNET = ['src/reporting/views/sql/subnet_stake_daily.sql'];

plainIt('no file adds weights, whose unit is another one on each subnet', () => {
  const adding = '\\b(sum|avg)\\(([a-z_]+\\.)?weight\\b';
  const { stdout } = spawnSync('git', ['grep', '-liE', adding, '--', ...FILES], { encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toEqual(SUMS_OF_ONE_SUBNET);
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
