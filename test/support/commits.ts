import type postgres from 'postgres';
import { openCommitPool } from '../../src/db/client.ts';

const opened = new WeakMap<postgres.Sql, postgres.Sql>();

/** The client of commits for the database of another client. Its connections end with the database. */
export function commitsFor(sql: postgres.Sql): postgres.Sql {
  const { path, host, port, user, pass, database } = sql.options;
  // The recorder's own clients have their place there.
  const url = new URL(`postgres://${path || `${host[0]}:${port[0]}`}/${database}`);
  url.username = user;
  url.password = String(pass ?? '');
  const commits = opened.get(sql) ?? openCommitPool(url.href, 4);
  opened.set(sql, commits);
  return commits;
}

/** A client of commits with something done before each of them. */
export const committingAfter = (commits: postgres.Sql, before: () => Promise<unknown>): postgres.Sql =>
  new Proxy(commits, {
    get: (target, name) =>
      name !== 'unsafe'
        ? Reflect.get(target, name)
        : async (...asked: unknown[]) => {
            await before();
            return Reflect.apply(target.unsafe, target, asked);
          },
  });
