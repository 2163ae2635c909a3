import { findNearestName } from '../lib/nearest-name.ts';
import { VARIABLES, type Variable } from './variables.ts';

/** Returns probable mistakes in a valid environment: a description, and a fix for errors. */
export function findSuspiciousVariables(
  env: NodeJS.ProcessEnv = process.env,
): readonly { readonly found: string; readonly fix?: string }[] {
  const known = Object.entries<Variable>(VARIABLES).flatMap(([name, { secret }]) =>
    secret ? [name, `${name}_FILE`] : [name],
  );
  const empty = known
    .filter((name) => env[name] === '')
    .map((name) => ({ found: `${name} is empty, which counts as not set` }));
  const misspelt = Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = findNearestName(name, known, OWN_PREFIX.test(name) ? 3 : 1);
    return meant === undefined || env[meant]
      ? []
      : [{ found: `${name} is set, and there is no such variable`, fix: `set ${meant} instead` }];
  });
  const unused = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']
    .flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => env[name])
    .map((name) => ({ found: `${name} is set, but has no effect: requests to upstreams use no proxy` }));
  const ofLibpq = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE', 'PGSSLMODE', 'PGOPTIONS']
    .filter((name) => env[name])
    .map((name) => ({
      found: `${name} is set, but has no effect: DATABASE_URL contains all settings of the database`,
    }));
  return [...empty, ...misspelt, ...unused, ...ofLibpq];
}

/** Prefixes that other programs are unlikely to use. */
const OWN_PREFIX = /^(RECORDER|CHAIN_DATA|METRICS)_/;
