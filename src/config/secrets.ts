import { namedIn } from './named-secrets.ts';
import { headerPairs } from './otlp.ts';
import { type Having, secretText, VARIABLES } from './variables.ts';

/** `scheme://user:password@host/database`, and passwords among a URL's parameters. */
const PASSWORD_IN_URL =
  /:\/\/([^/?#:]*):([^/?#]*)@[^/?#]*\/?([^?#]*)|[?&](?:ssl|sentinel)?password=([^&#]*)/gi;

/**
 * The secrets of the environment, which must not be in a log or an error. It works when other variables are invalid, too.
 * A password that equals the name of its user or database does not count as a secret.
 */
export function readSecrets(env: NodeJS.ProcessEnv = process.env): string[] {
  // What cannot be read is reported by readEnvironment.
  const value = (name: Having<'secret'>) => secretText(env, name);
  const passwords = (['DATABASE_URL', 'REPORTING_DATABASE_URL', 'REDIS_URL'] as const).flatMap((name) =>
    [...(value(name) ?? '').matchAll(PASSWORD_IN_URL)].map(([, user, password, database, parameter]) =>
      password !== user && password !== database ? password : parameter,
    ),
  );
  const sent = headerPairs(value('OTEL_EXPORTER_OTLP_HEADERS') ?? '').flatMap(([, text]) => [
    text,
    decoded(text),
    decoded(text).replace(/^(Basic|Bearer) +/i, ''),
  ]);
  // Of the lines of a PEM those that say something.
  const pem = (value('SEAL_KEY') ?? '').split(/\s+/).filter((line) => /^[\w+/=]{32,}$/.test(line));
  return (
    [
      'CHAIN_DATA_API_KEY',
      'METRICS_API_KEY',
      'RECORDER_TOKEN',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
    ] as const
  )
    .map(value)
    .concat(pem, sent)
    .concat(passwords.flatMap((text) => (text ? [text, decoded(text)] : [])))
    .flatMap((secret) => secret || []);
}

/**
 * What every secret is, by its name; empty: it is not set.
 * @param texts those of the configuration, which may name more of them as `${NAME}`
 */
export function secretsByName(
  texts: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ReadonlyMap<string, string> {
  const own = Object.entries(VARIABLES).flatMap(([name, variable]) => ('secret' in variable ? [name] : []));
  return new Map([...own, ...texts.flatMap(namedIn)].map((name) => [name, secretText(env, name) ?? '']));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
