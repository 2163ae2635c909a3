import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { z } from 'zod';

const journal = z.looseObject({ entries: z.array(z.looseObject({ tag: z.string() })) });

/** The names of all migrations, in their order. */
export async function migrationNames(): Promise<string[]> {
  const { entries } = journal.parse(JSON.parse(await readFile('drizzle/meta/_journal.json', 'utf8')));
  return entries.map(({ tag }) => tag);
}

/** Applies the migrations up to the one whose name ends so, by Drizzle's own migrator, as earlier versions did: tables only. */
export async function migrateUpTo(url: string, name: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'older-'));
  await cp('drizzle', dir, { recursive: true });
  const file = join(dir, 'meta', '_journal.json');
  const whole = journal.parse(JSON.parse(await readFile(file, 'utf8')));
  const last = whole.entries.findIndex(({ tag }) => tag.endsWith(name));
  if (last < 0) throw new Error(`there is no migration ${name}`);
  await writeFile(file, JSON.stringify({ ...whole, entries: whole.entries.slice(0, last + 1) }));
  const migrator = postgres(url, { max: 1, onnotice: () => {} }); // drizzle() changes its client
  await applyMigrations(drizzle(migrator), { migrationsFolder: dir });
  await migrator.end();
  await rm(dir, { recursive: true });
}
