import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { announceMaintenance, endMaintenance, listMaintenance } from '../../health/announcements.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printTable } from '../../lib/print.ts';
import { rejectUnsupportedArguments } from '../actions.ts';
import { parseBoth, parseInstantOption, unknownNodeText } from '../select-targets.ts';

export interface MaintenanceOptions {
  readonly node?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly reason?: string | undefined;
  readonly json: boolean;
}

const ACTION_ARGUMENTS = {
  word: ['end'],
  options: { node: ['announce'], from: ['announce'], to: ['announce'], reason: ['announce'] },
};

/** Maximum age of a start that still counts as now, in ms. */
const MAX_START_AGE_MS = 60_000;

/**
 * Command `maintenance [list|announce|end ID]`: manages time windows in which nodes count as neither up nor
 * down.
 * @returns the exit code
 */
export async function maintenanceCommand(
  app: App,
  action: string,
  id: string | undefined,
  options: MaintenanceOptions,
): Promise<number> {
  rejectUnsupportedArguments('maintenance', action, { word: id, options: { ...options } }, ACTION_ARGUMENTS);
  const { sql } = app.database;
  const now = app.clock();
  if (action === 'announce') {
    const window = windowOf(app, options, now);
    const announced = await announceMaintenance(sql, window, now);
    if (!options.json) process.stdout.write(`maintenance ${announced} was announced\n`);
  } else if (action === 'end') {
    if (id === undefined || !/^\d{1,9}$/.test(id))
      throw new UsageError(['maintenance end ID: ID must be an id from "chain-recorder maintenance"']);
    if (!(await endMaintenance(sql, Number(id), now)))
      throw new UsageError([`maintenance end ${id}: no current or future window has this id`]);
  } else if (action !== 'list')
    throw new UsageError([`maintenance ${action}: must be list, announce or end ID`]);
  const rows = await listMaintenance(sql, now);
  if (options.json) printJson(rows);
  else
    printTable(
      rows.map((row) => ({ ...row })),
      'no maintenance is announced by command',
    );
  return exitCode.done;
}

function windowOf(app: App, { node, from, to, reason }: MaintenanceOptions, now: number) {
  if (to === undefined) throw new UsageError(['maintenance announce: --to is missing']);
  const [begin, end] = parseBoth(
    () => (from === undefined ? now : parseInstantOption('--from', from)),
    () => parseInstantOption('--to', to),
  );
  const window = { from: begin, to: end };
  if (window.from < now - MAX_START_AGE_MS)
    throw new UsageError([`--from ${from}: must not be in the past: recorded states are never changed`]);
  if (window.to <= Math.max(now, window.from))
    throw new UsageError([`--to ${to}: must be after --from, and in the future`]);
  if (node !== undefined && !app.config.upstreams.nodes.some(({ name }) => name === node))
    throw new UsageError([unknownNodeText('--node', node, app.config)]);
  return { ...window, node: node ?? null, reason: reason ?? null };
}
