import type postgres from 'postgres';
import { snakeCase } from '../../../datasets/names.ts';
import type { ChartSource } from '../../../reporting/relations/chart-sources.ts';
import { relationSql } from '../../../reporting/views/declared-objects.ts';
import { textsOf } from './chart-data.ts';

/** Maximum number of targets and of list members that the form suggests, each. */
const MAX_SUGGESTIONS = 500;

/** A target as its key values, by column. */
export type ChartTarget = Readonly<Record<string, string>>;

/**
 * Reads the selectable targets of a chart source, recorded ones first, so that the default chart has points.
 * If the lines are members of a list, adds the newest members of the selected target, or of the first target
 * if none is selected. Functions have no targets.
 */
export async function readTargets(
  sql: postgres.Sql,
  drawable: ChartSource,
  requested: ChartTarget,
): Promise<ChartTarget[]> {
  const { dataset, keys, members } = drawable;
  if (!dataset) return [];
  const rows = await sql<{ target: string }[]>`
    select target from reporting.freshness where dataset = ${dataset.name}
    order by last_success_at is null, target limit ${MAX_SUGGESTIONS}`;
  const names = new Set(keys.map(({ name }) => name));
  const targets = rows.map(({ target }) =>
    Object.fromEntries(Object.entries(targetOf(target)).filter(([name]) => names.has(name))),
  );
  return members === null
    ? targets
    : [...(await readMembers(sql, drawable, members, requested, targets)), ...targets];
}

/**
 * Reads the members from the current list, which is small and has an index on its key. Does not scan
 * readings.
 */
async function readMembers(
  sql: postgres.Sql,
  { dataset, needed, memberKeys }: ChartSource,
  list: string,
  requested: ChartTarget,
  targets: readonly ChartTarget[],
): Promise<ChartTarget[]> {
  const request = needed.filter((name) => dataset?.request.includes(name));
  const conditions = Object.entries(completeKeys(requested, targets, request)).flatMap(([name, values]) =>
    request.includes(name) ? [sql`and ${sql(name)} = any(${textsOf(values)})`] : [],
  );
  const columns = sql(needed.filter((name) => memberKeys[name] === undefined));
  const members = await sql<ChartTarget[]>`
    select ${columns} from ${sql.unsafe(relationSql(list))} where true ${conditions.length > 0 ? conditions : sql``}
    group by ${columns} order by max(valid_from) desc, ${columns} limit ${MAX_SUGGESTIONS}`;
  return members.map((member) => ({ ...member, ...memberKeys }));
}

/**
 * Adds missing required keys, with the values of the first target that matches the selected keys. A key is
 * added if all matching targets have the same value, or if no required key is selected.
 */
export function completeKeys(
  selected: ChartTarget,
  targets: readonly ChartTarget[],
  needed: readonly string[],
): ChartTarget {
  const missing = needed.filter((name) => selected[name] === undefined);
  const agreeing = targets.filter((target) =>
    Object.entries(selected).every(([name, value]) => target[name] === undefined || target[name] === value),
  );
  const [first] = agreeing;
  const nothing = needed.every((name) => selected[name] === undefined);
  const filled = missing.flatMap((name) => {
    const value = first?.[name];
    const only = agreeing.every((target) => target[name] === value);
    return value !== undefined && (nothing || only) ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(filled), ...selected };
}

/** Parses the text of a target (`key=value key=value`) into values by column. */
export function targetOf(text: string): ChartTarget {
  return Object.fromEntries(
    text.split(' ').flatMap((part) => {
      const at = part.indexOf('=');
      if (at < 1) return [];
      return [[snakeCase(part.slice(0, at)), part.slice(at + 1)] as const];
    }),
  );
}
