import { MIN_SECRET_LENGTH } from '../lib/redaction.ts';
import { readSecret } from './variables.ts';

const VARIABLE_PATTERN = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** Returns the names of the environment variables in a text, written as `${NAME}`. */
export const findVariables = (text: string): string[] =>
  [...text.matchAll(VARIABLE_PATTERN)].map(([, name]) => name ?? '');

/** Values and problems of the variables that the configuration references. */
export interface NamedSecrets {
  /** Replaces `${NAME}` by the values. Invalid variables are replaced by an empty text. */
  fill(text: string): string;
  readonly values: readonly string[];
  /** Returns the problems of the variables in a text; empty if there are none. */
  problems(text: string): string[];
}

/** Returns every text in a value, recursively. */
export function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectTexts) : [];
}

/**
 * Reads the variables that texts of the configuration reference. The value of a variable may be in the file
 * that `NAME_FILE` names.
 * @param texts texts that may reference variables
 */
export function readReferencedSecrets(
  texts: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): NamedSecrets {
  const values = new Map<string, string>();
  const wrong = new Map<string, string>();
  for (const name of new Set(texts.flatMap(findVariables))) {
    const file = env[`${name}_FILE`];
    const value = readSecret(env, name);
    if (!value) wrong.set(name, file ? `${name}_FILE does not name a readable file` : `${name} is not set`);
    else if (value.length < MIN_SECRET_LENGTH)
      wrong.set(
        name,
        `${name} is shorter than ${MIN_SECRET_LENGTH} characters, so that it could not be redacted reliably: set a longer value`,
      );
    else values.set(name, value);
  }
  return {
    values: [...values.values()],
    fill: (text) => text.replaceAll(VARIABLE_PATTERN, (_, name: string) => values.get(name) ?? ''),
    problems: (text) => findVariables(text).flatMap((name) => wrong.get(name) ?? []),
  };
}
