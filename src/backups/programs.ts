import { execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { environmentOfPrograms } from '../config/environment.ts';

/** A program of PostgreSQL, and the major version that it is of. */
export interface Program {
  readonly path: string;
  readonly major: number;
}

const run = promisify(execFile);

/** Folders in which distributions keep the programs of each major version: Debian, Red Hat, Homebrew. */
const FOLDERS = [
  { root: '/usr/lib/postgresql', named: /^\d+$/ },
  { root: '/usr', named: /^pgsql-\d+$/ },
  { root: '/opt/homebrew/opt', named: /^postgresql@\d+$/ },
  { root: '/usr/local/opt', named: /^postgresql@\d+$/ },
];

/** Every installed version of a program: those of PATH first. One that does not say its version is left out. */
export async function installedPrograms(name: 'pg_dump' | 'pg_restore'): Promise<readonly Program[]> {
  const ofPath = (environmentOfPrograms().PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const ofVersions = FOLDERS.flatMap(({ root, named }) =>
    namesIn(root)
      .filter((one) => named.test(one))
      .map((one) => join(root, one, 'bin')),
  );
  const asked = [...new Set([...ofPath, ...ofVersions])].map(async (folder) => {
    const path = join(folder, name);
    const said = await run(path, ['--version'], { env: environmentOfPrograms() }).catch(() => null);
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(said?.stdout ?? '')?.[1]);
    return major > 0 ? [{ path, major }] : [];
  });
  return (await Promise.all(asked)).flat();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The program of the lowest version that fits; undefined: none does. */
export function lowestOf(
  programs: readonly Program[],
  fits: (major: number) => boolean,
): Program | undefined {
  return programs.filter(({ major }) => fits(major)).sort((a, b) => a.major - b.major)[0];
}

/** What is installed, for a message. */
export const namesOf = (programs: readonly Program[]): string =>
  programs.length === 0 ? 'none' : programs.map(({ path, major }) => `${path} (${major})`).join(', ');

/** How a program is run: what it reads, or what reads its output. */
export interface Running {
  readonly args: readonly string[];
  /** libpq's variables. A password is only here: an argument can be read by every user of the machine. */
  readonly connection: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Deals with the program's input and output. The program is ended when it fails. */
  exchange(input: Writable, output: Readable): Promise<void>;
}

/** The server was lost while a program worked with it: by libpq's words. */
class ServerLost extends Error {
  override readonly name = 'ServerLost';
  /** As errors of connections have one (`isAway`). */
  readonly code = 'SERVER_LOST';
}
const LOST =
  /server closed the connection unexpectedly|terminating connection due to|connection to server .* failed|could not (send|receive) data|SSL SYSCALL error|no connection to the server/;

const MOST_SAID = 4_000;

/**
 * Runs a program to its end.
 * @throws Error with what it said when it failed, one of which `isAway` knows where its server was lost; what `exchange` throws; the reason of the signal
 */
export async function runProgram(program: Program, { args, connection, signal, exchange }: Running) {
  signal.throwIfAborted();
  const child = spawn(program.path, args, {
    env: { ...environmentOfPrograms(), LC_ALL: 'C', ...connection },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  child.stdin.on('error', () => {}); // it ended before it had read everything: its exit code tells
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, by) => resolve(code ?? by));
  });
  // Whoever fails first ends the other.
  const exchanged = exchange(child.stdin, child.stdout).catch((error: unknown) => {
    stop();
    throw error;
  });
  try {
    const [code, exchange] = await Promise.allSettled([ended, exchanged]);
    signal.throwIfAborted();
    if (code.status === 'rejected') throw code.reason;
    // A pipe breaks where the program ended first: what it said is the cause.
    if (exchange.status === 'rejected' && !isBrokenPipe(exchange.reason)) throw exchange.reason;
    if (code.value === 0) return;
    const failed = `${program.path} ended with ${code.value}: ${said.trim() || 'it said nothing'}`;
    throw LOST.test(said) ? new ServerLost(failed) : new Error(failed);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const BROKEN_PIPE = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];

const isBrokenPipe = (error: unknown) =>
  error instanceof Error && 'code' in error && BROKEN_PIPE.includes(String(error.code));
