import type postgres from 'postgres';
import { openCommitPool } from '../../src/db/client.ts';

const opened = new WeakMap<postgres.Sql, postgres.Sql>();

/** The client of commits for the database of another client. Its connections end with the database. */
export function commitsFor(sql: postgres.Sql): postgres.Sql {
  const { path, host, port, user, pass, database } = sql.options;
  // The recorder's own clients have their name there.
  const url = new URL(`postgres://${path || `${host[0]}:${port[0]}`}/${database}`);
  url.username = user;
  url.password = String(pass ?? '');
  const commits = opened.get(sql) ?? withPreparedStatements(openCommitPool(url.href, 4));
  opened.set(sql, commits);
  return commits;
}

/**
 * Keeps the plan of a commit from its first use on. Planning takes ten times as long as executing, and most feeds of
 * tests have fewer rows than the recorder waits for.
 */
const withPreparedStatements = (commits: postgres.Sql): postgres.Sql =>
  withUnsafe(commits, (text, values) => commits.unsafe(text, values, { prepare: true }));

/** A client of commits with a hook before each of them. */
export const withCommitHook = (commits: postgres.Sql, before: () => Promise<unknown>): postgres.Sql =>
  withUnsafe(commits, async (...args) => {
    await before();
    return commits.unsafe(...args);
  });

/** The client with another `unsafe`, which executes commits. */
const withUnsafe = (
  commits: postgres.Sql,
  unsafe: (...args: Parameters<postgres.Sql['unsafe']>) => Promise<unknown>,
): postgres.Sql =>
  new Proxy(commits, {
    get: (target, name) => (name === 'unsafe' ? unsafe : Reflect.get(target, name)),
  });
