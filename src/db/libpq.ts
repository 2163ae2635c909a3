import { serverUrls } from '../config/database-url.ts';
import { serversOf } from './servers.ts';

/**
 * The database of a URL as libpq's variables, for programs of PostgreSQL. Of several servers it is the one that takes writes.
 * @param url as in DATABASE_URL
 */
export async function libpqVariables(url: string): Promise<Record<string, string>> {
  const servers = serversOf(url);
  const { hostname, port, username, password, pathname, searchParams } = new URL(serverUrls(url)[0] ?? url);
  const place = servers.several ? await servers.primary() : null;
  const variables: Record<string, string> = {
    PGHOST: searchParams.get('host') ?? place?.host ?? hostname.replace(/^\[(.*)\]$/, '$1'),
    PGPORT: String(place?.port ?? port),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    // To libpq `ssl=true` is `require`: it knows other authorities than Node.js does, and none where nobody named one to it.
    PGSSLMODE: searchParams.has('sslmode') || servers.sslMode === 'disable' ? servers.sslMode : 'require',
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}
