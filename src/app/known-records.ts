import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MAX_RECORDS = 20;

/**
 * List of this user's records with an embedded database: one state directory a line, the most recent first.
 * The list only serves to find a record again, so a file that cannot be read or written is not an error.
 */
export class KnownRecords {
  readonly #folder: string;

  /** @param stateHome folder for the state of this user's programs (XDG_STATE_HOME) */
  constructor(stateHome: string) {
    this.#folder = join(stateHome, 'chain-recorder');
  }

  /**
   * Returns the most recent state directory other than `dir` that still contains a database. Returns null if
   * there is no such directory.
   */
  last(dir: string): string | null {
    return this.#read().find((one) => one !== dir && existsSync(join(one, 'postgres'))) ?? null;
  }

  /** Moves `dir` to the start of the list. */
  remember(dir: string): void {
    if (/[\r\n]/.test(dir)) return;
    const dirs = [dir, ...this.#read().filter((one) => one !== dir)].slice(0, MAX_RECORDS);
    const unfinished = `${this.#file}.${process.pid}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, dirs.map((one) => `${one}\n`).join(''));
      renameSync(unfinished, this.#file);
    } catch {
      // A failed write is ignored: a later start repeats it.
    }
  }

  get #file(): string {
    return join(this.#folder, 'records');
  }

  #read(): string[] {
    try {
      return readFileSync(this.#file, 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  }
}

/**
 * Adds a record to the list.
 * @param isNew true if the record was just created and is empty
 * @param stateHome folder for the state of this user's programs; null: nothing is stored
 * @returns the directories of this record and of the previous record. Null if the record is not new, or is
 * the only record.
 */
export function rememberRecord(
  dir: string,
  isNew: boolean,
  stateHome: string | null,
): { readonly here: string; readonly last: string } | null {
  if (stateHome === null) return null;
  const records = new KnownRecords(stateHome);
  const last = records.last(dir);
  records.remember(dir);
  return isNew && last !== null ? { here: dirname(dir), last: dirname(last) } : null;
}
