import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

const PACKAGE = packageFile('package.json');

/**
 * Returns the version of this package. Uses no library, because the command line needs the version before any
 * command is loaded.
 */
export function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  if (
    typeof parsed === 'object' &&
    parsed !== null &&
    'version' in parsed &&
    typeof parsed.version === 'string'
  )
    return parsed.version;
  throw new Error(`${PACKAGE.pathname} has no version`);
}
