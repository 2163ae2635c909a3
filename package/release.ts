import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { declaredObjects } from '../src/reporting/views/declared-objects.ts';
import {
  findIncompatibleChanges,
  lastRelease,
  RELEASED,
  releasedAs,
} from '../src/reporting/views/released-columns.ts';

/** Writes the file with the objects of `reporting` in this version. `npm version` runs it at a release. */
const { version } = z
  .looseObject({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
const release = releasedAs(version, declaredObjects());
const lost = findIncompatibleChanges(lastRelease, release);
if (lost.length > 0) throw new Error(`reporting has lost what users build upon: ${lost.join('; ')}`);
writeFileSync(RELEASED, `${JSON.stringify(release, null, 2)}\n`);
