import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';

/**
 * Generates the single migration of `drizzle/` again from the schema: until 0.1.0 is tagged no database has to be
 * upgraded. From then on `drizzle-kit generate` adds a migration for each change.
 */
const MIGRATION = 'drizzle/0000_initial.sql';

rmSync('drizzle/meta', { recursive: true, force: true });
rmSync(MIGRATION, { force: true });
execFileSync('npx', ['drizzle-kit', 'generate', '--name', 'initial'], { stdio: 'inherit' });
appendFileSync(MIGRATION, `--> statement-breakpoint\n${readFileSync('drizzle/storage.sql', 'utf8')}`);
