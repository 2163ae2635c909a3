/**
 * What a session is for: `work` asks single statements, `reader` only looks, `query` asks what a user wrote, `queue` is
 * BullMQ's, `seal` reads all that was recorded, `checks` compares it, and `migration` takes its time.
 */
type Purpose = keyof typeof PURPOSES;

/**
 * The longest that a statement may take, ms: of `work` so short that a connection which fell silent is given up, and its
 * target asked again, within a minute.
 */
const PURPOSES = {
  work: { name: 'chain-recorder', timeout: 30_000, readOnly: 'off' },
  reader: { name: 'chain-recorder reader', timeout: 5_000, readOnly: 'on' },
  query: { name: 'chain-recorder query', timeout: 60_000, readOnly: 'off' },
  checks: { name: 'chain-recorder checks', timeout: 600_000, readOnly: 'off' },
  queue: { name: 'chain-recorder queue', timeout: 30_000, readOnly: 'off' },
  seal: { name: 'chain-recorder seal', timeout: 0, readOnly: 'off' },
  migration: { name: 'chain-recorder migrate', timeout: 0, readOnly: 'off' },
} as const;

/** No statement takes so long: a connection on which nothing came or went for this time is given up; ms. */
export const silenceOf = (purpose: 'work' | 'reader' | 'checks') => PURPOSES[purpose].timeout + 5_000;

/**
 * Everything of a session that the recorder relies on, as the start of a connection says it: there it wins over what
 * ALTER DATABASE, ALTER ROLE and the server's own configuration say.
 * @param searchPath the one schema of names that are not qualified; absent: only what PostgreSQL itself brings
 */
export function sessionSettings(purpose: Purpose, searchPath = 'pg_catalog'): Record<string, string> {
  const { name, timeout, readOnly } = PURPOSES[purpose];
  return {
    application_name: name,
    // What goes over the wire as text.
    client_encoding: 'UTF8',
    DateStyle: 'ISO, YMD',
    IntervalStyle: 'postgres',
    TimeZone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '3',
    // How statements are read.
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    transform_null_equals: 'off',
    search_path: searchPath,
    // What a statement may do and see.
    default_transaction_isolation: 'read committed',
    default_transaction_read_only: readOnly,
    default_transaction_deferrable: 'off',
    row_security: 'on',
    // How long it may take.
    statement_timeout: String(timeout),
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    idle_session_timeout: '0',
  };
}

/** The settings as the one text that libpq and `pg` call `options`. */
export function sessionOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}
