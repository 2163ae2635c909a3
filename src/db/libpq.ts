import { authorityFile } from '../config/environment.ts';
import { serversOf } from './servers.ts';

/**
 * The database of a URL as libpq's variables, for programs of PostgreSQL. Of several servers it is the one that takes writes.
 * @param url as in DATABASE_URL
 */
export async function libpqVariables(url: string): Promise<Record<string, string>> {
  const servers = serversOf(url);
  const { user, password, database, sslMode, direct, options } = servers.said;
  const { host, port } = await servers.primary();
  const authority = sslMode === 'verify-full' ? authorityFile() : undefined;
  const variables: Record<string, string> = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
    // To libpq `ssl=true` is `require` unless an authority is named: it knows none of those that Node.js knows.
    PGSSLMODE: sslMode === 'verify-full' && !authority && !/[?&]sslmode=/.test(url) ? 'require' : sslMode,
    PGSSLROOTCERT: authority ?? '',
    PGSSLNEGOTIATION: direct ? 'direct' : '',
    PGOPTIONS: options,
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}
