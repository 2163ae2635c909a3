import { serversOf } from './servers.ts';

/** Parameters of a URL that libpq reads from variables of these names. */
const VARIABLES: Readonly<Record<string, string>> = {
  host: 'PGHOST',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

/**
 * The database of a URL as libpq's variables, for programs of PostgreSQL. Of several servers it is the one that takes writes.
 * @param url as in DATABASE_URL
 */
export async function libpqVariables(url: string): Promise<Record<string, string>> {
  const servers = serversOf(url);
  const { hostname, port, username, password, pathname, searchParams } = new URL(servers.url);
  const place = servers.several ? await servers.primary() : null;
  const variables: Record<string, string> = {
    PGHOST: place?.host ?? hostname.replace(/^\[(.*)\]$/, '$1'),
    PGPORT: String(place?.port ?? port),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    // What the drivers call `ssl` is libpq's `sslmode`.
    PGSSLMODE: sslMode(searchParams.get('ssl')),
  };
  for (const [name, value] of searchParams) {
    const variable = VARIABLES[name];
    if (variable !== undefined) variables[variable] = variable === 'PGSSLMODE' ? sslMode(value) : value;
  }
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

/** As libpq names it: a certificate that need not be trusted is its `require`. */
function sslMode(value: string | null): string {
  if (value === null || value === 'false') return '';
  return value === 'true' || value === 'no-verify' ? 'require' : value;
}
