import { readFileSync } from 'node:fs';
import { z } from 'zod';

const PACKAGE = new URL('../package.json', import.meta.url);

/** The version of this package. */
export const versionOf = (): string =>
  z.looseObject({ version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE, 'utf8'))).version;
