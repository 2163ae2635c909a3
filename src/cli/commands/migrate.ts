import { exitCode } from '../../app/exit-code.ts';
import { printJson } from '../../lib/print.ts';

/**
 * Command `migrate`: reports that the schema is up to date. Opening the application has already migrated the
 * schema.
 */
export function migrateCommand(options: { json: boolean }): number {
  if (options.json) printJson({ migrated: true });
  else process.stdout.write('the database is up to date\n');
  return exitCode.done;
}
