import type pg from 'pg';

/**
 * What a session is for: `work` asks single statements, `reader` only looks, `report` reads from a replica, `query` asks what a user wrote, `queue` is
 * BullMQ's, `seal` and `export` read all that was recorded, `restore` writes it, `checks` compares it, `alerts` asks its rules, and
 * `migration` takes its time.
 */
type Purpose = keyof typeof PURPOSES;

/**
 * The longest time of a statement, ms. That of `work` is short, so that a dead connection is closed, and its target
 * polled again, within a minute.
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

/** How long a connection may be silent before it is closed, ms: longer than any statement may take. */
export const silenceOf = (purpose: 'work' | 'reader' | 'report' | 'checks' | 'alerts') =>
  PURPOSES[purpose].timeout + 5_000;

/**
 * Every setting that the recorder relies on, as sent in the start packet of a connection: there it overrides ALTER
 * DATABASE, ALTER ROLE and the server's configuration.
 * @param searchPath the schema of names that are not qualified; absent: PostgreSQL's own names only
 */
export function sessionSettings(purpose: Purpose, searchPath = 'pg_catalog'): Record<string, string> {
  const { name, timeout, readOnly } = PURPOSES[purpose];
  return {
    application_name: name,
    // The text form of values.
    client_encoding: 'UTF8',
    DateStyle: 'ISO, YMD',
    IntervalStyle: 'postgres',
    TimeZone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '3',
    // How statements are parsed.
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    transform_null_equals: 'off',
    search_path: searchPath,
    // What a statement may do and read.
    default_transaction_isolation: 'read committed',
    default_transaction_read_only: readOnly,
    default_transaction_deferrable: 'off',
    row_security: 'on',
    // How it is run. Views that unpack are taken for thousands of times what they give, and the compiler, which comes with many
    // a server, would then take longer than the statement: seconds for a thousand runs.
    jit: 'off',
    // How long it may take.
    statement_timeout: String(timeout),
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    idle_session_timeout: '0',
  };
}

/**
 * The settings as `pg` takes them. The name has a place of its own, where it wins over what the driver would find in the environment.
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
