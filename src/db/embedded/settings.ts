import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './file-lock.ts';
import { replaceFile } from './replace-file.ts';

/** PostgreSQL settings by name. */
export type Settings = Readonly<Record<string, string | number>>;

// ALTER SYSTEM overrides these settings, because ALTER SYSTEM writes postgresql.auto.conf.
const RECORDER_SETTINGS: Settings = {
  listen_addresses: '127.0.0.1',
  max_connections: 80,
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * The configuration that initdb wrote after testing the shared memory and the number of connections that this
 * system allows.
 */
const INITDB_FILE = 'initdb.conf';

/** Moves the configuration that initdb wrote to a separate file. */
export async function keepInitdbChoices(cluster: string): Promise<void> {
  await rename(join(cluster, 'postgresql.conf'), join(cluster, INITDB_FILE));
}

/**
 * Writes the configuration of a cluster: the choices of initdb and the recorder's settings. `max_connections`
 * does not exceed the value of initdb.
 */
export async function writeSettings(cluster: string, settings: Settings, account?: Account): Promise<void> {
  const chosen = await readFile(join(cluster, INITDB_FILE), 'utf8').catch(() => '');
  const allowed = Number(/^max_connections = (\d+)/m.exec(chosen)?.[1] ?? Number.POSITIVE_INFINITY);
  const recorder = {
    ...RECORDER_SETTINGS,
    max_connections: Math.min(Number(RECORDER_SETTINGS.max_connections), allowed),
  };
  const lines = Object.entries({ ...recorder, ...settings }).map(
    ([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`,
  );
  const text = `include_if_exists '${INITDB_FILE}'\n${lines.join('')}`;
  replaceFile(join(cluster, 'postgresql.conf'), text, account);
}

/**
 * Settings with which a server starts on a system that allows less than the system on which its cluster was
 * created.
 */
interface Fallback {
  /** Pattern of the server's log if the system refuses a resource. */
  readonly refused: RegExp;
  readonly settings: Settings;
}

/** Pattern of the output of PostgreSQL's programs if the system refuses dynamic shared memory. */
export const DYNAMIC_MEMORY_REFUSED =
  /could not (open|create|resize|map|attach to) (dynamic )?shared memory segment/;

/** Fallback settings, in the order of the attempts. */
const FALLBACKS: readonly Fallback[] = [
  { refused: DYNAMIC_MEMORY_REFUSED, settings: { dynamic_shared_memory_type: 'sysv' } },
  { refused: DYNAMIC_MEMORY_REFUSED, settings: { dynamic_shared_memory_type: 'mmap' } },
  { refused: /could not (map anonymous|create) shared memory/, settings: { shared_buffers: '16MB' } },
  { refused: /could not create semaphores/, settings: { max_connections: 60 } },
];

/** Fallback settings, selected by the log of failed starts. */
export class StartFallbacks {
  readonly #remaining = [...FALLBACKS];
  #settings: Settings = {};

  /** All fallback settings that were selected so far. */
  get settings(): Settings {
    return this.#settings;
  }

  /** Adds the next fallback for the output of a failed start. Returns false if there is no such fallback. */
  add(output: string): boolean {
    const found = this.#remaining.findIndex(({ refused }) => refused.test(output));
    const [fallback] = found < 0 ? [] : this.#remaining.splice(found, 1);
    if (!fallback) return false;
    this.#settings = { ...this.#settings, ...fallback.settings };
    return true;
  }
}
