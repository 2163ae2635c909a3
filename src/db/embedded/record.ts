import { readFileSync, readlinkSync, rmSync, statSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { UsageError } from '../../lib/errors.ts';
import type { EmbeddedHome } from './home.ts';
import { replaceFile } from './replace-file.ts';

/** Interval in which every process that uses a server renews the heartbeat of the server's record, in ms. */
export const HEARTBEAT_INTERVAL_MS = 3_000;
/** Observation time after which an unchanged heartbeat of another host counts as dead, in ms. */
const OBSERVATION_MS = 4 * HEARTBEAT_INTERVAL_MS;
const OBSERVATION_STEP_MS = 250;
/**
 * Age from which a heartbeat counts as dead without an observation, in ms. This age exceeds any difference
 * between the clocks of two hosts.
 */
const DEAD_AGE_MS = 600_000;

/**
 * The machine and namespaces of a process. Process ids are valid within one PID namespace, and 127.0.0.1
 * within one network namespace.
 */
export interface Location {
  /**
   * Id of the machine's last boot, equal in all containers of the machine. The host name on systems without
   * such an id.
   */
  readonly host: string;
  readonly pids: string;
  readonly network: string;
}

/** The record of a running server, stored in its folder. */
export interface ServerRecord extends Location {
  readonly hostname: string;
  readonly port: number;
}

const serverRecord = z.object({
  host: z.string(),
  pids: z.string(),
  network: z.string(),
  hostname: z.string(),
  port: z.number().int(),
});

/**
 * Returns the location of this process. On systems without namespaces, the ids of the namespaces are empty.
 */
export function ownLocation(): Location {
  const host =
    nullOnError(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? hostname();
  const pids = nullOnError(() => readlinkSync('/proc/self/ns/pid')) ?? '';
  const network = nullOnError(() => readlinkSync('/proc/self/ns/net')) ?? '';
  return { host, pids, network };
}

const fileOf = ({ path }: EmbeddedHome) => join(path, 'server.json');

/**
 * Reads the record of the server of a home. Returns null if no server was started, or the last server was
 * stopped.
 */
export function readServerRecord(home: EmbeddedHome): ServerRecord | null {
  const text = nullOnError(() => readFileSync(fileOf(home), 'utf8'));
  if (text === null) return null;
  const parsed = serverRecord.safeParse(nullOnError((): unknown => JSON.parse(text)));
  return parsed.success ? parsed.data : null;
}

/** Stores the location and port of a started server. */
export function writeServerRecord(home: EmbeddedHome, port: number): void {
  const record: ServerRecord = { ...ownLocation(), hostname: hostname(), port };
  replaceFile(fileOf(home), JSON.stringify(record), home.account);
}

/** Removes the record of a stopped server. */
export function removeServerRecord(home: EmbeddedHome): void {
  rmSync(fileOf(home), { force: true });
}

/** Renews the heartbeat of a home until the returned function is called. */
export function startHeartbeat(home: EmbeddedHome): () => void {
  const { host } = ownLocation();
  const beat = () => {
    if (readServerRecord(home)?.host !== host) return;
    const now = new Date();
    nullOnError(() => utimesSync(fileOf(home), now, now));
  };
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Refuses a home whose server runs on another host. A file lock is not visible across hosts on every file
 * system, so the heartbeat decides.
 * @param isLocked whether a process holds the lock of the server, which some file systems report across hosts
 * @throws UsageError that names the other host
 */
export async function refuseOtherHost(home: EmbeddedHome, isLocked: boolean): Promise<void> {
  const record = readServerRecord(home);
  if (record === null || record.host === ownLocation().host) return;
  if (isLocked || (await isBeating(home)))
    throw new UsageError([
      `${home.path}: the host "${record.hostname}" runs the database of this folder: stop the recorder there, or set ` +
        'DATABASE_URL to a PostgreSQL server that both hosts can reach',
    ]);
}

/**
 * Returns whether the heartbeat changes during an observation. The age alone is not sufficient, because the
 * clocks of two hosts may differ.
 */
async function isBeating(home: EmbeddedHome): Promise<boolean> {
  const beat = () => nullOnError(() => statSync(fileOf(home)).mtimeMs) ?? 0;
  const first = beat();
  if (Date.now() - first > DEAD_AGE_MS) return false;
  for (let waited = 0; waited < OBSERVATION_MS; waited += OBSERVATION_STEP_MS) {
    await delay(OBSERVATION_STEP_MS);
    if (beat() !== first) return true;
  }
  return false;
}

/** Returns the result of a read, or null if it fails. */
function nullOnError<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
