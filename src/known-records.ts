import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
