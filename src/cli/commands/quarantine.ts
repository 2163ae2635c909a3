import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printTable } from '../../lib/print.ts';
import { escapeUnsafeLines } from '../../lib/safe-text.ts';
import { redrive } from '../../recording/redrive.ts';
import { rejectUnsupportedArguments } from '../actions.ts';

const MAX_LISTED = 50;

/**
 * Command `quarantine [list|show ID|redrive]`: lists, prints or reprocesses items that could not be decoded
 * or stored.
 * @returns the exit code
 */
export async function quarantineCommand(
  app: App,
  action: string,
  id: string | undefined,
  options: { json: boolean },
): Promise<number> {
  rejectUnsupportedArguments(
    'quarantine',
    action,
    { word: id, options: {} },
    { word: ['show'], options: {} },
  );
  if (action === 'list') return list(app, options.json);
  if (action === 'show') return show(app, id, options.json);
  if (action === 'redrive') return redriveItems(app, options.json);
  throw new UsageError([`quarantine ${action}: must be list, show ID or redrive`]);
}

async function list(app: App, json: boolean): Promise<number> {
  const rows = await app.database.sql`
    select id, dataset, target, first_seen, last_seen, times, reason from reporting.quarantine
    order by last_seen desc, id desc limit ${MAX_LISTED}`;
  const counts = await app.database.sql`
    select dataset, reason, count(*)::int as items from reporting.quarantine group by 1, 2 order by 3 desc limit ${MAX_LISTED}`;
  if (json) printJson({ counts, newest: rows });
  else {
    printTable(counts, 'the quarantine is empty');
    if (rows.length > 0) process.stdout.write('\n');
    if (rows.length > 0) printTable(rows, '');
  }
  return exitCode.done;
}

async function show(app: App, id: string | undefined, json: boolean): Promise<number> {
  if (id === undefined || !/^\d{1,18}$/.test(id))
    throw new UsageError(['quarantine show ID: ID must be an id from "chain-recorder quarantine"']);
  const [row] = await app.database.sql`select * from reporting.quarantine where id = ${id}`;
  if (!row) throw new UsageError([`quarantine show ${id}: no item has this id; it may have been redriven`]);
  if (json) printJson(row);
  else {
    const { item, ...rest } = row;
    printTable([rest], '');
    process.stdout.write(`\n${escapeUnsafeLines(item)}\n`);
  }
  return exitCode.done;
}

async function redriveItems(app: App, json: boolean): Promise<number> {
  const result = await redrive(app.recording, app.feeds);
  if (json) printJson(result);
  else
    process.stdout.write(
      `${result.released} items decoded, ${result.rowsWritten} rows written, ${result.kept} kept in quarantine\n`,
    );
  return result.held > 0 ? exitCode.later : exitCode.done;
}
