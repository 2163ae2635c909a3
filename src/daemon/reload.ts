import { type App, STARTUP_SECRETS } from '../app/app.ts';
import { catalogNames } from '../app/configured-feeds.ts';
import { loadConfig } from '../config/load.ts';
import { diffConfigs } from '../config/setting-changes.ts';
import { UsageError } from '../lib/errors.ts';
import type { Role } from './roles.ts';
import { validateConfiguration } from './server-role.ts';
import { ServiceManager } from './service-manager.ts';
import { upCommand } from './up.ts';

/** Maximum number of changes in one log line. */
const MAX_LOGGED_CHANGES = 50;

/**
 * Runs `up` until the signal aborts, and reloads on SIGHUP.
 * On SIGHUP, the configuration file and the secret files are read again. An invalid configuration is logged
 * and not applied. For a valid one, the difference is logged; then everything except the database stops and
 * restarts with it.
 * @throws UsageError if `up` cannot start with its first configuration; TemporaryError if the embedded
 * database exited and does not restart
 */
export async function upUntilStopped(app: App, roles: ReadonlySet<Role>, signal: AbortSignal): Promise<void> {
  const service = new ServiceManager(app.environment, app.log);
  const hangups = new HangupHandler();
  // In a process started from a terminal, SIGHUP means that the terminal was closed.
  if (process.stdin.isTTY) hangups.heard = () => process.kill(process.pid, 'SIGTERM');
  let stopping = Promise.resolve();
  const tellStopping = () => {
    stopping = service.stopping();
  };
  signal.addEventListener('abort', tellStopping, { once: true });
  const lost = new AbortController();
  app.superviseDatabase(signal).catch((error: unknown) => lost.abort(error));
  let running = app;
  /** The configuration that ran last, while its successor has not started completely. */
  let before: App | null = null;
  try {
    for (;;) {
      const next: { app: App | null } = { app: null };
      const replaced = new AbortController();
      if (!process.stdin.isTTY)
        hangups.heard = () => {
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
    signal.removeEventListener('abort', tellStopping);
    await stopping;
  }
}

/**
 * Returns the application with the current content of its file. Returns null if it is unchanged or invalid.
 */
function reloadConfiguration(app: App, roles: ReadonlySet<Role>): App | null {
  const { configFile, config, counts } = app;
  if (configFile === null) {
    app.log.warn(
      'SIGHUP: this process has no configuration file; to record by one that exists now, start it again',
    );
    return null;
  }
  try {
    const other = app.reconfigured(loadConfig(configFile, catalogNames));
    validateConfiguration(other, roles);
    const secrets = [...other.secrets].flatMap(([name, text]) =>
      (app.secrets.get(name) ?? text) === text ? [] : [name],
    );
    const kept = secrets.filter((name) => STARTUP_SECRETS.includes(name));
    const changes = [
      ...diffConfigs(config, other.config),
      ...secrets.filter((name) => !kept.includes(name)).map((name) => `${name}: another secret`),
    ];
    counts.noteReload(true);
    if (kept.length > 0)
      other.log.warn({ kept }, 'SIGHUP: these secrets are others now: they are used after a restart');
    if (changes.length === 0) {
      app.log.info({ file: configFile }, 'SIGHUP: the configuration says what it said');
      return null;
    }
    const more = changes.length > MAX_LOGGED_CHANGES ? { more: changes.length - MAX_LOGGED_CHANGES } : {};
    other.log.info(
      { file: configFile, changes: changes.slice(0, MAX_LOGGED_CHANGES), ...more },
      'SIGHUP: another configuration is taken over',
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
  log.error({ file: configFile, problems }, 'the configuration is not applied: the one before holds');
}

/** Handler of SIGHUP, so that the signal does not terminate the process. */
class HangupHandler {
  #listener: (() => void) | null = null;
  readonly #hear = () => this.#listener?.();

  constructor() {
    process.on('SIGHUP', this.#hear);
  }

  set heard(listener: () => void) {
    this.#listener = listener;
  }

  end(): void {
    process.off('SIGHUP', this.#hear);
  }
}
