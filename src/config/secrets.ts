import { findVariables } from './named-secrets.ts';
import { splitHeaders } from './otlp.ts';
import { readSecret, VARIABLES, type VariableWith } from './variables.ts';

/** Pattern of `scheme://user:password@host/database`, and of passwords in the parameters of a URL. */
const PASSWORD_IN_URL =
  /:\/\/([^/?#:]*):([^/?#]*)@[^/?#]*\/?([^?#]*)|[?&](?:ssl|sentinel)?password=([^&#]*)/gi;

/**
 * Returns the secrets of the environment, which must not appear in a log or an error. Works even if other
 * variables are invalid. A password that equals the name of its user or database does not count as a secret.
 */
export function readSecrets(env: NodeJS.ProcessEnv = process.env): string[] {
  // readEnvironment reports unreadable values.
  const value = (name: VariableWith<'secret'>) => readSecret(env, name);
  const passwords = (['DATABASE_URL', 'REPORTING_DATABASE_URL', 'REDIS_URL'] as const).flatMap((name) =>
    [...(value(name) ?? '').matchAll(PASSWORD_IN_URL)].map(([, user, password, database, parameter]) =>
      password !== user && password !== database ? password : parameter,
    ),
  );
  const sent = splitHeaders(value('OTEL_EXPORTER_OTLP_HEADERS') ?? '').flatMap(([, text]) => [
    text,
    decoded(text),
    decoded(text).replace(/^(Basic|Bearer) +/i, ''),
  ]);
  // Only the lines of a PEM that contain key data.
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
 * Returns every secret by its name; an empty text for a secret that is not set.
 * @param texts texts of the configuration, which may reference more secrets as `${NAME}`
 */
export function secretsByName(
  texts: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ReadonlyMap<string, string> {
  const own = Object.entries(VARIABLES).flatMap(([name, variable]) => ('secret' in variable ? [name] : []));
  return new Map(
    [...own, ...texts.flatMap(findVariables)].map((name) => [name, readSecret(env, name) ?? '']),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
