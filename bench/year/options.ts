import { parseArgs } from 'node:util';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { toErrorMessage, UsageError } from '../../src/lib/errors.ts';
import type { NetworkSize } from './network.ts';

/** The recorded configuration, and the duration. */
export interface Options extends NetworkSize {
  readonly file: string;
  readonly days: number;
  /** Excluded datasets, for a quicker measurement of others. */
  readonly without: readonly string[];
  /** Days for which everything is kept; null: forever. */
  readonly keep: number | null;
  /** Minimum interval of datasets, ms; 0: as configured. */
  readonly every: number;
  /** One JSON object on stdout instead of tables. */
  readonly json: boolean;
}

const USAGE =
  'npx tsx bench/year/main.ts [--config examples/validator.yaml] [--days 10] [--validators 900] [--peers 1500] ' +
  '[--p-blocks 5000] [--x-blocks 300] [--without p_blocks,x_blocks] [--keep 30] [--every 60] [--json]';

/** Parses the command line. @throws UsageError with the invalid option */
export function readOptions(args: readonly string[]): Options {
  const values = parseValues(args);
  return {
    file: values.config,
    days: wholeNumber('days', values.days, 1, 365),
    validators: wholeNumber('validators', values.validators, 1, 10_000),
    peers: wholeNumber('peers', values.peers, 0, 10_000),
    pBlocks: wholeNumber('p-blocks', values['p-blocks'], 0, 100_000),
    xBlocks: wholeNumber('x-blocks', values['x-blocks'], 0, 100_000),
    without: namesIn(values.without),
    keep: values.keep === undefined ? null : wholeNumber('keep', values.keep, 1, 365),
    every: wholeNumber('every', values.every, 0, 1_440) * 60_000,
    json: values.json,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        config: { type: 'string', default: 'examples/validator.yaml' },
        days: { type: 'string', default: '10' },
        validators: { type: 'string', default: '900' },
        peers: { type: 'string', default: '1500' },
        'p-blocks': { type: 'string', default: '5000' },
        'x-blocks': { type: 'string', default: '300' },
        without: { type: 'string', default: '' },
        keep: { type: 'string' },
        every: { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError([toErrorMessage(error), USAGE]);
  }
}

function namesIn(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '');
  const unknown = names.filter((name) => !catalogNames.datasets.includes(name));
  if (unknown.length > 0)
    throw new UsageError([`--without: there is no dataset ${unknown.join(', ')}`, USAGE]);
  return names;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= max) return number;
  throw new UsageError([`--${name}: must be a whole number from ${min} to ${max}, not "${text}"`, USAGE]);
}
