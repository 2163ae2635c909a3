import { createPrivateKey, type KeyObject } from 'node:crypto';
import { toErrorMessage } from '../lib/errors.ts';
import { readInputFile } from '../lib/read-input-file.ts';
import { MIN_SECRET_LENGTH } from '../lib/redaction.ts';
import {
  MIN_TOKEN_LENGTH,
  readSecretFilePath,
  readVariable,
  VARIABLES,
  type VariableWith,
} from './variables.ts';

type Secret = VariableWith<'secret'>;

/**
 * Pattern of an API key without surrounding quotes and spaces. Some environment files keep the quotes of a
 * value.
 */
const KEY_PATTERN = /^[\x21\x23-\x26\x28-\x7e]([\x20-\x7e]*[\x21\x23-\x26\x28-\x7e])?$/;
/** Pattern of a token that is valid in `Authorization: Bearer`. Such a token contains no space. */
const BEARER_TOKEN_PATTERN = /^[\x21-\x7e]+$/;

const UNREADABLE =
  'is not a valid URL: in user and password write / as %2F, @ as %40, : as %3A, # as %23, ? as %3F and % as %25';

/**
 * Reads environment variables. Each method returns undefined for a variable that is not set, and adds every
 * invalid value to the problems.
 */
export class VariableReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly problems: string[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  text(name: keyof typeof VARIABLES): string | undefined {
    return readVariable(this.#env, name);
  }

  /** Returns the default value if the variable is not set. */
  preset(name: VariableWith<'preset'>): string {
    return this.text(name) ?? VARIABLES[name].preset;
  }

  /** Returns the value of `NAME`, or of the file that `NAME_FILE` names. */
  secret(name: Secret, problems = this.problems): string | undefined {
    const file = readSecretFilePath(this.#env, name);
    const value = this.text(name);
    if (file === undefined) return value;
    if (value !== undefined) problems.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      return readInputFile(`${name}_FILE`, file).trim();
    } catch (error) {
      problems.push(toErrorMessage(error));
      return undefined;
    }
  }

  /**
   * Returns a URL.
   * @param parse throws if the URL is invalid
   */
  url(name: Secret, schemes: readonly string[], parse: (url: string) => unknown): string | undefined {
    const value = this.secret(name);
    if (value === undefined) return undefined;
    if (!schemes.some((scheme) => value.startsWith(`${scheme}//`))) {
      this.#refuse(name, `must start with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`);
      return value;
    }
    try {
      parse(value);
    } catch (error) {
      this.#refuse(name, isUnreadableUrl(error) ? UNREADABLE : toErrorMessage(error));
    }
    return value;
  }

  port(name: 'RECORDER_PORT' | 'RECORDER_PG_PORT', text: string, lowest: number): number {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (!(port >= lowest && port <= 65_535))
      this.#refuse(name, `must be a port number from ${lowest} to 65535, not "${text}"`);
    return port;
  }

  oneOf(name: 'LOG_LEVEL' | 'LOG_FORMAT', values: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !values.includes(value))
      this.#refuse(name, `must be one of ${values.join(', ')}`);
    return value;
  }

  apiKey(name: Secret): string | undefined {
    const key = this.secret(name);
    if (key !== undefined && key.length < MIN_SECRET_LENGTH)
      this.#refuse(
        name,
        `is shorter than ${MIN_SECRET_LENGTH} characters, so that it could not be redacted reliably: set a longer value`,
      );
    if (key !== undefined && !KEY_PATTERN.test(key))
      this.#refuse(
        name,
        'starts or ends with a quote or a space, or has characters that are invalid in an HTTP header: set the key alone',
      );
    return key;
  }

  token(name: Secret): string | undefined {
    const token = this.secret(name);
    if (token !== undefined && token.length < MIN_TOKEN_LENGTH)
      this.#refuse(
        name,
        `is shorter than ${MIN_TOKEN_LENGTH} characters and could be guessed: create a token with "openssl rand -hex 16"`,
      );
    if (token !== undefined && !BEARER_TOKEN_PATTERN.test(token))
      this.#refuse(
        name,
        'has a space, a line break or another character that is invalid in "Authorization: Bearer": set the token alone',
      );
    return token;
  }

  signingKey(name: Secret): KeyObject | undefined {
    const pem = this.secret(name);
    if (pem === undefined) return undefined;
    try {
      const key = createPrivateKey(pem);
      if (key.asymmetricKeyType === 'ed25519') return key;
    } catch {
      // The error of OpenSSL is not helpful to users.
    }
    this.#refuse(
      name,
      'must be an ed25519 private key in PEM without a password: create a key with "openssl genpkey -algorithm ed25519"',
    );
    return undefined;
  }

  #refuse(name: string, problem: string): void {
    this.problems.push(`${name}: ${problem}`);
  }
}

const isUnreadableUrl = (error: unknown) =>
  error instanceof URIError ||
  (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_URL');
