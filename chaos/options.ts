import { parseArgs } from 'node:util';
import { toErrorMessage, UsageError } from '../src/lib/errors.ts';

export type BackendKind = 'redis' | 'postgres';

/** Options of a run. */
export interface Options {
  readonly seed: number;
  /** Numbers of FAULTS.md; empty: all. */
  readonly faults: ReadonlySet<number>;
  readonly backends: readonly BackendKind[];
  /** Number of kills, restarts or losses in faults that repeat them; null: the default of the fault. */
  readonly kills: number | null;
  /**
   * Size of faults with a variable size, such as the rows of the backfill of fault 1; null: the default of the fault.
   */
  readonly rows: number | null;
  /** After this many minutes no further fault is started. */
  readonly minutes: number;
  /** Only faults of a few minutes. */
  readonly short: boolean;
  /** Insert the bugs instead, and show that each invariant detects its bug. */
  readonly planted: boolean;
  /** Folder of an installed earlier version, which fault 81 replaces; null: the last release is installed for it. */
  readonly release: string | null;
}

const USAGE =
  'npm run chaos -- [--seed N] [--faults 1,2,20-44] [--backend redis|postgres|both] [--kills N] [--rows N] [--minutes N] [--short] [--planted] [--release DIR]';

/** Text of `--help`. */
export const HELP = `${USAGE}

Injects faults into real processes and checks the invariants afterwards: chaos/README.md.

  --seed N        seed of all random choices; default: a new one
  --faults LIST   numbers such as 1,2,20-44; default: all
  --backend KIND  backend of the queue: redis, postgres or both (default)
  --kills N       number of kills, restarts or lost responses in faults that repeat them
  --rows N        size of faults with a variable size
  --minutes N     after this time no further fault is started (default 600)
  --short         only faults of a few minutes
  --planted       inserts a bug for each invariant, and shows that it is detected
  --release DIR   folder of an installed earlier version, for fault 81; default: the last release is installed

Exits 0 if all invariants hold, 1 if one is violated, 2 for an invalid command line, 130 if it was stopped.`;

/** Parses the command line. @returns null: help was requested. @throws UsageError with the invalid option */
export function readOptions(args: readonly string[]): Options | null {
  const values = parseValues(args);
  if (values.help) return null;
  const { backend } = values;
  if (backend !== 'redis' && backend !== 'postgres' && backend !== 'both')
    throw new UsageError([`--backend: must be redis, postgres or both, not "${backend}"`]);
  return {
    seed:
      values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : wholeNumber('seed', values.seed),
    faults: faultNumbers(values.faults ?? ''),
    backends: backend === 'both' ? ['redis', 'postgres'] : [backend],
    kills: values.kills === undefined ? null : wholeNumber('kills', values.kills),
    rows: values.rows === undefined ? null : wholeNumber('rows', values.rows),
    minutes: wholeNumber('minutes', values.minutes),
    short: values.short,
    planted: values.planted,
    release: values.release ?? null,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        seed: { type: 'string' },
        faults: { type: 'string' },
        backend: { type: 'string', default: 'both' },
        kills: { type: 'string' },
        rows: { type: 'string' },
        minutes: { type: 'string', default: '600' },
        short: { type: 'boolean', default: false },
        planted: { type: 'boolean', default: false },
        release: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError([toErrorMessage(error), USAGE]);
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError([`--${name}: must be a whole number, not "${text}"`]);
}

/** The numbers in a list such as `1,2,20-44`. */
function faultNumbers(text: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [, from, to] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part) ?? [];
    if (from === undefined)
      throw new UsageError([`--faults: must be a list such as 1,2,20-44, not "${text}"`]);
    for (let number = Number(from); number <= Number(to ?? from); number++) numbers.add(number);
  }
  return numbers;
}
