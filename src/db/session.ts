import type pg from 'pg';

/**
 * Purpose of a session. `work` runs single statements, `reader` only reads, `report` reads from a replica,
 * `query` runs queries of users, `queue` is for BullMQ. `seal` and `export` read all recorded data, `restore`
 * writes recorded data, `checks` compares it, `alerts` evaluates rules, and `migration` has no timeout.
 */
type Purpose = keyof typeof PURPOSES;

/**
 * Settings by purpose. `timeout` is the statement timeout, in ms; 0 for none. The timeout of `work` is short,
 * so that within a minute a dead connection is closed and its target is polled again.
 */
const PURPOSES = {
  work: { name: 'chain-recorder', timeout: 30_000, readOnly: 'off' },
  reader: { name: 'chain-recorder reader', timeout: 5_000, readOnly: 'on' },
  report: { name: 'chain-recorder report', timeout: 30_000, readOnly: 'on' },
  query: { name: 'chain-recorder query', timeout: 60_000, readOnly: 'off' },
  alerts: { name: 'chain-recorder alerts', timeout: 20_000, readOnly: 'on' },
  checks: { name: 'chain-recorder checks', timeout: 600_000, readOnly: 'off' },
  queue: { name: 'chain-recorder queue', timeout: 30_000, readOnly: 'off' },
  seal: { name: 'chain-recorder seal', timeout: 0, readOnly: 'off' },
  export: { name: 'chain-recorder export', timeout: 0, readOnly: 'on' },
  restore: { name: 'chain-recorder restore', timeout: 0, readOnly: 'off' },
  migration: { name: 'chain-recorder migrate', timeout: 0, readOnly: 'off' },
} as const;

/**
 * Returns the time without data after which a connection is closed, in ms. This time is longer than any
 * statement may take.
 */
export const silenceOf = (purpose: 'work' | 'reader' | 'report' | 'checks' | 'alerts') =>
  PURPOSES[purpose].timeout + 5_000;

/**
 * Returns every setting that the recorder relies on. The settings are sent in the startup packet of a
 * connection, where they override ALTER DATABASE, ALTER ROLE and the server's configuration.
 *
 * @param searchPath the schema of unqualified names. Default: `pg_catalog` only
 */
export function sessionSettings(purpose: Purpose, searchPath = 'pg_catalog'): Record<string, string> {
  const { name, timeout, readOnly } = PURPOSES[purpose];
  return {
    application_name: name,
    // Text format of values.
    client_encoding: 'UTF8',
    DateStyle: 'ISO, YMD',
    IntervalStyle: 'postgres',
    TimeZone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '3',
    // Parsing of statements.
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    transform_null_equals: 'off',
    search_path: searchPath,
    // Isolation and access of statements.
    default_transaction_isolation: 'read committed',
    default_transaction_read_only: readOnly,
    default_transaction_deferrable: 'off',
    row_security: 'on',
    // Execution. For views that unpack arrays, the planner estimates thousands of times the actual number of
    // rows. The JIT compiler, which many servers have, would then take longer than the statement: seconds for
    // a thousand runs.
    jit: 'off',
    // Timeouts, in ms.
    statement_timeout: String(timeout),
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    idle_session_timeout: '0',
  };
}

/**
 * Converts session settings to options of `pg`. The application name is a separate option, because only that
 * option overrides the environment.
 */
export function sessionConfig({
  application_name,
  ...settings
}: Readonly<Record<string, string>>): pg.ClientConfig {
  const options = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`,
  );
  return { application_name, options: options.join(' ') };
}
