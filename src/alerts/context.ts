import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { AlertsConfig } from '../config/alerts-schema.ts';
import type { NamedSecrets } from '../config/named-secrets.ts';
import type { Clock } from '../lib/clock.ts';
import type { Sender } from './message.ts';
import type { ConfiguredRule, RuleFacts } from './rule.ts';

/** Resources of the alerts. */
export interface AlertContext {
  /** Connection that stores alerts and messages. */
  readonly sql: postgres.Sql;
  /** Read-only connections for the queries of rules. */
  readonly reader: postgres.Sql;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'debug'>;
  readonly config: AlertsConfig;
  readonly rules: readonly ConfiguredRule[];
  readonly sender: Sender;
  readonly facts: RuleFacts;
  readonly secrets: NamedSecrets;
}
