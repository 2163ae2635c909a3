import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { AlertsConfig } from '../config/alerts-schema.ts';
import type { NamedSecrets } from '../config/named-secrets.ts';
import type { Clock } from '../lib/clock.ts';
import type { Sender } from './message.ts';
import type { ConfiguredRule, Facts } from './rule.ts';

/** What alerts work with. */
export interface AlertContext {
  /** Writes what became of alerts. */
  readonly sql: postgres.Sql;
  /** Asks the rules: on connections of its own, which only read. */
  readonly reader: postgres.Sql;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'debug'>;
  readonly config: AlertsConfig;
  readonly rules: readonly ConfiguredRule[];
  readonly sender: Sender;
  readonly facts: Facts;
  readonly secrets: NamedSecrets;
}
