import { exitCode } from '../../app/exit-code.ts';
import { printJson } from '../../lib/print.ts';

/** `migrate`: says that the database has this version's schema, which opening the application brought it to. */
export function migrateCommand(options: { json: boolean }): number {
  if (options.json) printJson({ migrated: true });
  else process.stdout.write('the database is up to date\n');
  return exitCode.done;
}
