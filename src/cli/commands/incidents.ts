import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { storeIncidentNote } from '../../health/incident-notes.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printLine, printTable } from '../../lib/print.ts';
import { newestIncidents } from '../../reporting/reports/incident.ts';
import { rejectUnsupportedArguments } from '../actions.ts';
import { parseInstantOption, unknownNodeText } from '../select-targets.ts';

export interface IncidentsOptions {
  readonly by?: string | undefined;
  readonly note?: string | undefined;
  readonly at?: string | undefined;
  readonly json: boolean;
}

const ACTION_ARGUMENTS = { word: ['list', 'note'], options: { by: ['note'], note: ['note'], at: ['note'] } };

/** Maximum number of listed incidents. */
const MAX_LISTED = 20;
/** Maximum length of a note, in characters. */
const MAX_NOTE_LENGTH = 10_000;

/**
 * Command `incidents [list] [NODE]`: lists outages of nodes. `incidents note NODE --by WHO --note TEXT [--at
 * T]`: stores a note about the outage of a node.
 * @returns the exit code
 * @throws UsageError with every problem
 */
export async function incidentsCommand(
  app: App,
  action: string,
  node: string | undefined,
  options: IncidentsOptions,
): Promise<number> {
  rejectUnsupportedArguments('incidents', action, { word: node, options: { ...options } }, ACTION_ARGUMENTS);
  const { sql } = app.database;
  const unknown = node !== undefined && !app.config.upstreams.nodes.some(({ name }) => name === node);
  if (action === 'list') {
    const rows = await newestIncidents(sql, node ?? null, MAX_LISTED);
    if (options.json) printJson(rows);
    else
      printTable(
        rows.map((row) => ({ ...row })),
        'no node was down',
      );
    return exitCode.done;
  }
  const { by, note, at } = options;
  const now = app.clock();
  const problems = [
    ...(node === undefined ? ['incidents note NODE: the node is missing'] : []),
    ...(unknown && node !== undefined ? [unknownNodeText('incidents note', node, app.config)] : []),
    ...(by?.trim() ? [] : ['--by: is required: name the author of the note']),
    ...(note?.trim() ? [] : ['--note: is missing']),
    ...(note !== undefined && note.length > MAX_NOTE_LENGTH
      ? [`--note: is longer than ${MAX_NOTE_LENGTH} characters`]
      : []),
    ...([by, note].some((text) => text?.includes('\0'))
      ? ['--by, --note: contain a NUL character, which cannot be stored: remove it']
      : []),
  ];
  const about = at === undefined ? now : parseInstantOption('--at', at);
  if (about > now) problems.push(`--at ${at}: is in the future`);
  if (problems.length > 0 || !node || !by || !note) throw new UsageError(problems);
  const id = await storeIncidentNote(sql, { node, at: about, author: by.trim(), note: note.trim() }, now);
  if (options.json) printJson({ id });
  else printLine(`note ${id} was stored: "report incident --node ${node}" shows it`);
  return exitCode.done;
}
