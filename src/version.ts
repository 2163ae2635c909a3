import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../package.json', import.meta.url);

/** The version of this package. Read without a library: the command line asks for it before a command is called. */
export function versionOf(): string {
  const told: unknown = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  if (typeof told === 'object' && told !== null && 'version' in told && typeof told.version === 'string')
    return told.version;
  throw new Error(`${PACKAGE.pathname} names no version`);
}
