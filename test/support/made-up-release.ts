import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const journal = z.looseObject({ entries: z.array(z.looseObject({ idx: z.number(), when: z.number() })) });

/** A folder of migrations, which is removed at the end of its scope. */
export interface Migrations extends AsyncDisposable {
  readonly folder: string;
}

/**
 * Returns the migrations of this version with one more at the end, as a later release has them.
 * @param statements of the additional migration, in order
 */
export async function madeUpRelease(...statements: readonly string[]): Promise<Migrations> {
  const folder = await mkdtemp(join(tmpdir(), 'made-up-release-'));
  await cp('drizzle', folder, { recursive: true });
  const file = join(folder, 'meta', '_journal.json');
  const whole = journal.parse(JSON.parse(await readFile(file, 'utf8')));
  const last = whole.entries.at(-1);
  if (!last) throw new Error('drizzle/ holds no migration');
  const added = { ...last, idx: last.idx + 1, when: last.when + 1, tag: 'made_up' };
  await writeFile(file, JSON.stringify({ ...whole, entries: [...whole.entries, added] }));
  await writeFile(join(folder, 'made_up.sql'), statements.join('--> statement-breakpoint\n'));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
