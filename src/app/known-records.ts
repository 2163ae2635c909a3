import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MOST = 20;

/**
 * Where this user's records with an embedded database are: the state directories, the latest first, a line each. It only
 * helps people to find a record again, so that a file that cannot be read or written is no failure.
 */
export class KnownRecords {
  readonly #folder: string;

  /** @param stateHome the folder in which programs keep what they remember of this user */
  constructor(stateHome: string) {
    this.#folder = join(stateHome, 'chain-recorder');
  }

  /** The state directory that was used last, beside `dir`, and still holds a database; null: there is none. */
  last(dir: string): string | null {
    return this.#read().find((one) => one !== dir && existsSync(join(one, 'postgres'))) ?? null;
  }

  /** Notes that `dir` is in use now. */
  remember(dir: string): void {
    if (/[\r\n]/.test(dir)) return;
    const dirs = [dir, ...this.#read().filter((one) => one !== dir)].slice(0, MOST);
    const unfinished = `${this.#file}.${process.pid}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, dirs.map((one) => `${one}\n`).join(''));
      renameSync(unfinished, this.#file);
    } catch {
      // It is remembered another time, or never.
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
 * Remembers where a record is.
 * @param made whether it was made just now, and is empty
 * @param stateHome the folder in which programs keep what they remember of this user; null: nothing is remembered
 * @returns where it is and where the last one was used: the directories to start in. Null: it is not new, or the only one
 */
export function rememberRecord(
  dir: string,
  made: boolean,
  stateHome: string | null,
): { readonly here: string; readonly last: string } | null {
  if (stateHome === null) return null;
  const records = new KnownRecords(stateHome);
  const last = records.last(dir);
  records.remember(dir);
  return made && last !== null ? { here: dirname(dir), last: dirname(last) } : null;
}
