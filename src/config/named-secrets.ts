import { SHORTEST_SECRET } from '../lib/redaction.ts';
import { secretText } from './variables.ts';

const NAMED = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** The variables of the environment that a text names as `${NAME}`. */
export const namedIn = (text: string): string[] => [...text.matchAll(NAMED)].map(([, name]) => name ?? '');

/** What variables hold that the configuration names, and what is wrong with them. */
export interface NamedSecrets {
  /** A text with the values in the place of `${NAME}`. Of a variable that is not sound nothing is put there. */
  fill(text: string): string;
  readonly values: readonly string[];
  /** What is wrong with a text's variables; empty: nothing. */
  problems(text: string): string[];
}

/** Every text below a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Reads the variables that texts of the configuration name; each may come from the file that `NAME_FILE` names.
 * @param texts those that may name variables
 */
export function readNamed(texts: readonly string[], env: NodeJS.ProcessEnv = process.env): NamedSecrets {
  const values = new Map<string, string>();
  const wrong = new Map<string, string>();
  for (const name of new Set(texts.flatMap(namedIn))) {
    const file = env[`${name}_FILE`];
    const value = secretText(env, name);
    if (!value) wrong.set(name, file ? `${name}_FILE names no file that can be read` : `${name} is not set`);
    else if (value.length < SHORTEST_SECRET)
      wrong.set(
        name,
        `${name} is shorter than ${SHORTEST_SECRET} characters: it could not be kept out of the log`,
      );
    else values.set(name, value);
  }
  return {
    values: [...values.values()],
    fill: (text) => text.replaceAll(NAMED, (_, name: string) => values.get(name) ?? ''),
    problems: (text) => namedIn(text).flatMap((name) => wrong.get(name) ?? []),
  };
}
