import { parseArgs } from 'node:util';
import { toErrorMessage, UsageError } from '../src/lib/errors.ts';

/** Options of a run of the benchmark. */
export interface Options {
  /** Blocks that each contender records in a round. */
  readonly rows: number;
  readonly rounds: number;
  /** Polls of each series of polls. */
  readonly polls: number;
  /** Earlier versions of each row, in the second series of polls. */
  readonly versions: number;
  /** The measured parts. */
  readonly parts: ReadonlySet<Part>;
  /** One JSON object on stdout instead of tables. */
  readonly json: boolean;
}

/** Parts that can be measured alone. */
const PARTS = ['ingest', 'lists', 'polls', 'health'] as const;
export type Part = (typeof PARTS)[number];

/** The page server keeps all blocks in one buffer. */
const MAX_ROWS = 2_000_000;

export const USAGE =
  'npm run bench -- [--rows 200000] [--rounds 3] [--polls 25] [--versions 100] [--only PART] [--json]';

/** Parses the command line. @throws UsageError with the invalid option */
export function readOptions(args: readonly string[]): Options {
  const values = parseValues(args);
  return {
    rows: wholeNumber('rows', values.rows, MAX_ROWS),
    rounds: wholeNumber('rounds', values.rounds, 100),
    polls: wholeNumber('polls', values.polls, 10_000),
    versions: wholeNumber('versions', values.versions, 100_000),
    parts: values.only === undefined ? new Set(PARTS) : new Set([part(values.only)]),
    json: values.json,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rows: { type: 'string', default: '200000' },
        rounds: { type: 'string', default: '3' },
        polls: { type: 'string', default: '25' },
        versions: { type: 'string', default: '100' },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError([toErrorMessage(error), USAGE]);
  }
}

function part(name: string): Part {
  const found = PARTS.find((one) => one === name);
  if (found) return found;
  throw new UsageError([`--only: must be one of ${PARTS.join(', ')}, not "${name}"`]);
}

function wholeNumber(name: string, text: string, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
  throw new UsageError([`--${name}: must be a whole number from 1 to ${max}, not "${text}"`]);
}
