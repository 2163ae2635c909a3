import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

const PACKAGE = packageFile('package.json');

/** The version of this package. Read without a library: the command line asks for it before a command is called. */
export function versionOf(): string {
  const told: unknown = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  if (typeof told === 'object' && told !== null && 'version' in told && typeof told.version === 'string')
    return told.version;
  throw new Error(`${PACKAGE.pathname} names no version`);
}
