import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { request } from 'undici';
import { z } from 'zod';
import { loadConfig, validateConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../lib/errors.ts';
import { packageFile } from '../lib/package-file.ts';
import { createFolder, explainWriteErrors } from '../lib/write-errors.ts';
import { catalogNames } from './configured-feeds.ts';

const PROGRAM = fileURLToPath(packageFile('dist/sandbox/main.js'));
const STATE = 'sandbox.json';
/** Fix to report if this user has no permission to write to the folder. */
const WRITABLE_PLACE =
  'run chain-recorder in a directory that this user may write to (in a container: as the owner of the volume, such as --user node)';
/** Timeout of the liveness request to a sandbox that may be running, in ms. */
const LIVENESS_TIMEOUT_MS = 2_000;

/** Startup line of the sandbox: its URL and the objects that can be watched. */
export const announcementSchema = z.looseObject({
  url: z.string(),
  chains: z.array(z.string()),
  nodeIds: z.array(z.string()),
  addresses: z.array(z.string()),
  evmAddresses: z.array(z.unknown()),
  contracts: z.array(z.unknown()),
  collections: z.array(z.unknown()),
  transactions: z.array(z.unknown()),
  assets: z.array(z.string()),
  nodes: z.array(z.looseObject({ name: z.string(), path: z.string() })),
});

export type Announcement = z.infer<typeof announcementSchema>;

/** A sandbox network in use. */
export interface Sandbox {
  readonly announcement: Announcement;
  /** Stops the sandbox if this process started it. */
  close(): Promise<void>;
}

/**
 * Uses the sandbox that another process of this directory runs, or starts a sandbox that ends with this
 * process.
 */
export async function useSandbox(dir: string): Promise<Sandbox> {
  const running = await runningSandbox(dir);
  if (running) return { announcement: running, close: async () => {} };
  await explainWriteErrors(dir, () => createFolder(dir), WRITABLE_PLACE);
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', '--parent'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C signals the whole process group, but work in progress still calls the sandbox while the recorder
    // stops.
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const line = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    void ended.then((code) =>
      reject(new Error(`the sandbox exited with code ${code} before it accepted connections`)),
    );
    createInterface({ input: child.stdout }).once('line', resolve);
  });
  const announcement = announcementSchema.parse(JSON.parse(line));
  try {
    await explainWriteErrors(dir, async () => writeFileSync(join(dir, STATE), line), WRITABLE_PLACE);
  } catch (error) {
    child.kill('SIGTERM');
    throw error;
  }
  return {
    announcement,
    close: async () => {
      rmSync(join(dir, STATE), { force: true });
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/**
 * Runs the sandbox in the foreground until it exits.
 * @returns the exit code of the sandbox
 */
export function runSandbox(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 0));
  });
}

/**
 * Returns true if the bundled sandbox is the upstream. This is the case without a configuration file, and
 * with `network: sandbox` and no upstream.
 */
export function usesBundledSandbox(config: Config | null): boolean {
  if (config === null) return true;
  const { chainData, metrics, nodes } = config.upstreams;
  return config.network === 'sandbox' && !chainData && !metrics && nodes.length === 0;
}

/** Starts the bundled sandbox if it is the upstream of a configuration, and adds it to the configuration. */
export async function resolveSandbox(
  config: Config | null,
  dir: string,
): Promise<{ config: Config; sandbox: Sandbox | null }> {
  if (config !== null && !usesBundledSandbox(config)) return { config, sandbox: null };
  const sandbox = await useSandbox(dir);
  return { config: addSandbox(config, sandbox.announcement), sandbox };
}

/**
 * Loads the configuration file of a running process. Adds the upstreams of the bundled sandbox if the
 * configuration uses it.
 * @param sandbox announcement of the sandbox with which the process started; null if there was no sandbox
 * @throws UsageError if the configuration is invalid, or uses a sandbox that the process did not start with
 */
export function loadConfigFor(file: string, sandbox: Announcement | null): Config {
  const config = loadConfig(file, catalogNames);
  if (!usesBundledSandbox(config)) return config;
  if (sandbox) return addSandbox(config, sandbox);
  throw new UsageError([
    `${file}: upstreams: is empty, and the bundled sandbox starts only together with this process: restart this process`,
  ]);
}

/** Returns true if a configuration records the sandbox of an announcement. */
export const recordsSandbox = ({ upstreams }: Config, announcement: Announcement): boolean =>
  isDeepStrictEqual(upstreams, sandboxConfig(announcement).upstreams);

/** Adds the upstreams of a sandbox to a configuration, and its objects if the configuration watches none. */
function addSandbox(config: Config | null, announcement: Announcement): Config {
  const whole = sandboxConfig(announcement);
  if (config === null) return whole;
  const watchesNothing = Object.values(config.watch).every((list) => list.length === 0);
  return { ...config, upstreams: whole.upstreams, watch: watchesNothing ? whole.watch : config.watch };
}

/** Returns the configuration that watches everything in a sandbox. */
export function sandboxConfig({ url, nodes, chains, nodeIds, addresses, ...watch }: Announcement): Config {
  const { evmAddresses, contracts, collections, transactions, assets } = watch;
  return validateConfig(
    {
      network: 'sandbox',
      upstreams: {
        chainData: { url },
        metrics: { url },
        nodes: nodes.map((node) => ({ name: node.name, url: url + node.path })),
      },
      watch: { chains, nodeIds, addresses, evmAddresses, contracts, collections, transactions, assets },
    },
    catalogNames,
    'the sandbox',
  );
}

async function runningSandbox(dir: string): Promise<Announcement | null> {
  const over = new AbortController();
  // If another process's sandbox exits during the request, undici 7 may neither respond nor fail, even when
  // the request is aborted.
  const late = delay(LIVENESS_TIMEOUT_MS, null, { signal: over.signal }).catch(() => null);
  const found = await Promise.race([readLiveAnnouncement(dir, over.signal), late]);
  over.abort();
  return found;
}

/** Returns the announcement of a directory's sandbox. Returns null if the sandbox does not respond. */
async function readLiveAnnouncement(dir: string, signal: AbortSignal): Promise<Announcement | null> {
  try {
    const found = announcementSchema.parse(JSON.parse(readFileSync(join(dir, STATE), 'utf8')));
    const { body } = await request(`${found.url}/ext/health/liveness`, { signal });
    await body.dump();
    return found;
  } catch {
    return null;
  }
}
