import { isDeepStrictEqual } from 'node:util';
import { type App, STARTUP_SECRETS } from '../app/app.ts';
import { loadConfigFor } from '../app/bundled-sandbox.ts';
import { UsageError } from '../lib/errors.ts';
import type { Role } from './roles.ts';
import { validateConfiguration } from './server-role.ts';
import { ServiceManager } from './service-manager.ts';
import { upCommand } from './up.ts';

/** Pattern of settings that may contain or reference a secret. Their values are not logged. */
const SENSITIVE_SETTINGS = /^(alerts|changes|exports)\b|url$/i;

/**
 * Returns the differences of two configurations: one line per setting with its path, such as
 * `datasets.subnets.every: 3600000 → 60000`. Empty if the configurations are equal. Both configurations
 * include the defaults.
 */
export function diffConfigs(before: unknown, after: unknown, path = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isMapping(before) && isMapping(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      diffConfigs(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  if (Array.isArray(before) && Array.isArray(after)) {
    const [named, namedAfter] = [byName(before), byName(after)];
    if (named && namedAfter) {
      const changes = [...new Set([...named.keys(), ...namedAfter.keys()])].flatMap((name) =>
        diffConfigs(named.get(name), namedAfter.get(name), `${path}[${name}]`),
      );
      return changes.length === 0 ? [`${path}: in another order`] : changes;
    }
    return elementsChanged(before, after, path);
  }
  if (before === undefined) return [`${path}: added${formatValue(path, after, ' ')}`];
  if (after === undefined) return [`${path}: taken out${formatValue(path, before, ' ')}`];
  const values = formatValue(path, before, '') && formatValue(path, after, '');
  return [values ? `${path}: ${formatValue(path, before, '')} → ${values}` : `${path}: changed`];
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the elements of a list by their names. Returns null if an element has no name. */
function byName(list: readonly unknown[]): Map<string, unknown> | null {
  const named = list.flatMap((one) =>
    isMapping(one) && typeof one.name === 'string' ? [[one.name, one] as const] : [],
  );
  return named.length === list.length ? new Map(named) : null;
}

function elementsChanged(before: readonly unknown[], after: readonly unknown[], path: string): string[] {
  const without = (list: readonly unknown[], other: readonly unknown[]) => {
    const known = new Set(other);
    const among = (one: unknown) =>
      known.has(one) || (typeof one === 'object' && other.some((each) => isDeepStrictEqual(one, each)));
    return list.filter((one) => !among(one));
  };
  const out = without(before, after).map(
    (one) => `${path}: without${formatValue(path, one, ' ') || ' one of them'}`,
  );
  const added = without(after, before).map(
    (one) => `${path}: with${formatValue(path, one, ' ') || ' another one'}`,
  );
  return out.length + added.length === 0 ? [`${path}: in another order`] : [...out, ...added];
}

/** Formats a value after `lead`. Returns an empty text if the value must not be logged. */
function formatValue(path: string, value: unknown, lead: string): string {
  const text = JSON.stringify(value, (_, part) => (part instanceof Set ? [...part] : part));
  if (SENSITIVE_SETTINGS.test(path) || text?.includes('://')) return '';
  return `${lead}${typeof value === 'string' ? value : text}`;
}

/** Maximum number of changes in one log line. */
const MAX_LOGGED_CHANGES = 50;

/**
 * Runs `up` until the signal aborts, and reloads on SIGHUP. On SIGHUP, the configuration file and the secret
 * files are read again. An invalid configuration is logged and not applied. For a valid one, the difference
 * is logged; then everything except the database stops and restarts with the new configuration.
 * @throws UsageError if `up` cannot start with its first configuration; TemporaryError if the embedded
 * database exited and does not restart
 */
export async function upUntilStopped(app: App, roles: ReadonlySet<Role>, signal: AbortSignal): Promise<void> {
  const service = new ServiceManager(app.environment, app.log);
  const hangups = new HangupHandler();
  // In a process started from a terminal, SIGHUP means that the terminal was closed.
  if (process.stdin.isTTY) hangups.listener = () => process.kill(process.pid, 'SIGTERM');
  let stopping = Promise.resolve();
  const notifyStopping = () => {
    stopping = service.stopping();
  };
  signal.addEventListener('abort', notifyStopping, { once: true });
  const lost = new AbortController();
  app.superviseDatabase(signal).catch((error: unknown) => lost.abort(error));
  let running = app;
  /** Previous configuration, until the next one has started completely. */
  let before: App | null = null;
  try {
    for (;;) {
      const next: { app: App | null } = { app: null };
      const replaced = new AbortController();
      if (!process.stdin.isTTY)
        hangups.listener = () => {
          next.app = reloadConfiguration(next.app ?? running, roles) ?? next.app;
          if (next.app) replaced.abort();
        };
      const began = () => {
        before = null;
        void service.ready();
      };
      try {
        await upCommand(running, roles, AbortSignal.any([signal, lost.signal, replaced.signal]), {
          began,
          service,
        });
      } catch (error) {
        if (!(error instanceof UsageError) || before === null) throw error;
        logRejected(running, error);
        // A newer configuration may have been loaded meanwhile.
        next.app ??= before;
      }
      if (!signal.aborted && lost.signal.aborted) throw lost.signal.reason;
      if (signal.aborted || next.app === null) return;
      await service.reloading();
      before = next.app === before ? null : (before ?? running);
      running = next.app;
    }
  } finally {
    hangups.end();
    signal.removeEventListener('abort', notifyStopping);
    await stopping;
  }
}

/**
 * Returns the application with the current content of its configuration file. Returns null if the file is
 * unchanged or invalid.
 */
function reloadConfiguration(app: App, roles: ReadonlySet<Role>): App | null {
  const { configFile, config, counts } = app;
  if (configFile === null) {
    app.log.warn('SIGHUP was ignored: this process has no configuration file; restart it to use a new one');
    return null;
  }
  try {
    const other = app.reconfigured(loadConfigFor(configFile, app.startedSandbox));
    validateConfiguration(other, roles);
    const secrets = [...other.secrets].flatMap(([name, text]) =>
      (app.secrets.get(name) ?? text) === text ? [] : [name],
    );
    const kept = secrets.filter((name) => STARTUP_SECRETS.includes(name));
    const changes = [
      ...diffConfigs(config, other.config),
      ...secrets.filter((name) => !kept.includes(name)).map((name) => `${name}: changed`),
    ];
    counts.noteReload(true);
    if (kept.length > 0)
      other.log.warn({ kept }, 'SIGHUP: these secrets changed and are used after a restart');
    if (changes.length === 0) {
      app.log.info({ file: configFile }, 'SIGHUP: the configuration is unchanged');
      return null;
    }
    const more = changes.length > MAX_LOGGED_CHANGES ? { more: changes.length - MAX_LOGGED_CHANGES } : {};
    other.log.info(
      { file: configFile, changes: changes.slice(0, MAX_LOGGED_CHANGES), ...more },
      'SIGHUP: the new configuration is being applied',
    );
    return other;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    logRejected(app, error);
    return null;
  }
}

function logRejected({ log, configFile, counts }: App, { problems }: UsageError): void {
  counts.noteReload(false);
  log.error(
    { file: configFile, problems },
    'the configuration was not applied: the previous one stays active',
  );
}

/** Handler of SIGHUP, so that the signal does not terminate the process. */
class HangupHandler {
  #listener: (() => void) | null = null;
  readonly #handleSignal = () => this.#listener?.();

  constructor() {
    process.on('SIGHUP', this.#handleSignal);
  }

  set listener(listener: () => void) {
    this.#listener = listener;
  }

  end(): void {
    process.off('SIGHUP', this.#handleSignal);
  }
}
