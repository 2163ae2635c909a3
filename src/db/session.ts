/** What a session is for: `work` asks single statements, `queue` is BullMQ's, `migration` may take its time. */
type Purpose = 'work' | 'queue' | 'migration';

/** So short that a connection which fell silent is given up, and its target asked again, within a minute; ms. */
const STATEMENT_TIMEOUT = 30_000;

/** No statement takes so long: a connection on which nothing came or went for this time is given up; ms. */
export const SILENCE = STATEMENT_TIMEOUT + 5_000;

/**
 * Everything of a session that the recorder relies on, as the start of a connection says it: there it wins over what
 * ALTER DATABASE, ALTER ROLE and the server's own configuration say.
 * @param searchPath the one schema of names that are not qualified; absent: only what PostgreSQL itself brings
 */
export function sessionSettings(purpose: Purpose, searchPath = 'pg_catalog'): Record<string, string> {
  const name = { work: '', queue: ' queue', migration: ' migrate' }[purpose];
  return {
    application_name: `chain-recorder${name}`,
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
    default_transaction_read_only: 'off',
    default_transaction_deferrable: 'off',
    row_security: 'on',
    // How long it may take.
    statement_timeout: String(purpose === 'migration' ? 0 : STATEMENT_TIMEOUT),
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
