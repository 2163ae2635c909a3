import pg from 'pg';

/**
 * A connection of `pg` whose loss never ends the process: BullMQ starts on one to which nobody listens, and there an
 * error without a listener is thrown at nobody. What was asked on it fails all the same.
 */
export class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
