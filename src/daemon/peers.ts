import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../app/app.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { ProcessRegistration } from '../recording/process-registration.ts';
import { registerAll } from '../recording/register.ts';
import { registerExports } from '../warehouse/scheduled-exports.ts';

const RETRY_INTERVAL_MS = 1_000;
const WARN_INTERVAL_MS = 600_000;

/**
 * Joins the processes of the recorder, as soon as the database is reachable.
 * @throws UsageError if a live recorder of the same name records another network
 */
export async function joinPeers(
  app: App,
  roles: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ProcessRegistration> {
  const { database, configuration, recording, log } = app;
  const name = `${recording.worker}/${randomBytes(4).toString('hex')}`;
  for (;;) {
    try {
      return await ProcessRegistration.join(database.sql, configuration, name, [...roles]);
    } catch (error) {
      if (!isDatabaseUnavailable(error) || signal.aborted) throw error;
      log.warn({ cause: toErrorMessage(error) }, 'the database cannot be reached: waiting for it');
      await delay(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/**
 * Registration of the configuration of this process. Takes effect only while that configuration is the newest
 * of its recorder.
 */
export class ConfigurationRegistration {
  readonly #app: App;
  readonly #registration: ProcessRegistration;
  #generation = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, registration: ProcessRegistration) {
    this.#app = app;
    this.#registration = registration;
  }

  /**
   * Registers the targets and exports of the configuration when the configuration becomes the newest. Logs a
   * warning while another configuration is newer.
   * @returns true if the configuration became the newest since the last call
   * @throws UsageError if another recorder owns some of the targets
   */
  async follow(): Promise<boolean> {
    const { log, config, database, watched, clock, configuration } = this.#app;
    const { newest, generation } = this.#registration.position;
    const fields = { recorder: configuration.recorder, generation };
    if (!newest) {
      this.#generation = 0;
      if (performance.now() - this.#loggedAt < WARN_INTERVAL_MS) return false;
      this.#loggedAt = performance.now();
      log.warn(
        fields,
        'another process has a newer configuration: this process continues only with work that both configurations contain; ' +
          'restart it with the newer recorder.yaml, or, for a separate recorder, set another name (name:)',
      );
      return false;
    }
    if (generation === this.#generation) return false;
    await registerAll(database.sql, watched, clock(), this.#registration.registrant);
    await registerExports(database.sql, config.exports, this.#registration.registrant);
    this.#generation = generation;
    this.#loggedAt = Number.NEGATIVE_INFINITY;
    log.info(fields, 'this configuration became the newest');
    return true;
  }
}
