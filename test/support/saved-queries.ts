import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { savedQueryCommand } from '../../src/cli/commands/saved-query.ts';
import { catalog } from '../../src/datasets/catalog.ts';
import { UsageError } from '../../src/lib/errors.ts';
import {
  type SavedQuery,
  savedQueries,
  savedQueryParameters,
  savedQuerySql,
} from '../../src/reporting/reports/saved-queries.ts';
import { relationSql } from '../../src/reporting/views/declared-objects.ts';

/** Values of the required parameters of saved queries. */
type ParameterValues = Readonly<Record<string, string>>;

const parameterNames = (savedQuery: SavedQuery) => savedQueryParameters(savedQuery).map(({ name }) => name);

/** The saved queries of past moments, each with its parameters of the given values. */
function pastMomentQueries(parameterValues: ParameterValues) {
  return savedQueries()
    .flatMap((part) => part.queries)
    .filter((savedQuery) => parameterNames(savedQuery).includes('as_of'))
    .map((savedQuery) => {
      const names = parameterNames(savedQuery);
      const values = Object.entries(parameterValues).filter(([name]) => names.includes(name));
      return { savedQuery, values, hasWindow: names.includes('from') };
    });
}

/**
 * The results of all reports as of a moment, by the name of the query: as `report` prints it in CSV, or the reason of
 * its refusal.
 * @param from the start of the windows, which end at the moment
 */
export async function reportedAsOf(
  databaseUrl: string,
  moment: Date,
  from: Date,
  parameterValues: ParameterValues,
): Promise<Record<string, string>> {
  const results: Record<string, string> = {};
  const asOf = moment.toISOString();
  for (const { savedQuery, values, hasWindow } of pastMomentQueries(parameterValues)) {
    const window = hasWindow ? { from: from.toISOString(), to: asOf } : {};
    const out = new PassThrough();
    const printed = text(out);
    const refused = await savedQueryCommand(
      { databaseUrl, clock: () => moment.getTime() },
      savedQuery,
      { ...window, asOf, param: values.map((pair) => pair.join('=')), format: 'csv' },
      new AbortController().signal,
      out,
    ).catch((error: unknown) => {
      if (error instanceof UsageError) return error.message;
      throw error;
    });
    out.end();
    results[savedQuery.name] = `${await printed}${refused}`;
  }
  return results;
}

/**
 * The digests of the results of the reports' statements as of a moment, by the name of the query. It takes a fifth of
 * the time of {@link reportedAsOf}.
 */
export async function questionDigests(
  sql: postgres.Sql,
  moment: Date,
  from: Date,
  parameterValues: ParameterValues,
): Promise<Record<string, string>> {
  const asOf = moment.toISOString();
  const digests = pastMomentQueries(parameterValues).map(async ({ savedQuery, values, hasWindow }) => {
    const window = hasWindow ? { from: from.toISOString(), to: asOf } : {};
    const statement = savedQuerySql(savedQuery, { ...Object.fromEntries(values), ...window, as_of: asOf });
    return [savedQuery.name, await digest(sql, `select t::text as line from (${statement}) t`)] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}

/** The digests of the rows of the datasets at a moment, by the name of the dataset; of those recorded by then. */
export async function datasetDigests(sql: postgres.Sql, moment: Date): Promise<Record<string, string>> {
  const recorded = await sql<{ dataset: string }[]>`
    select distinct dataset from reporting_internal.recorded_since where recorded_since <= ${moment}`;
  const digests = catalog
    .filter(({ name }) => recorded.some(({ dataset }) => dataset === name))
    .map(
      ({
        name,
        relation,
      }) => `select '${name}' as name, concat(count(*), ' ', md5(string_agg(t::text, '|' order by t::text))) as digest
        from ${relationSql(`${relation}_as_of`)}('${moment.toISOString()}') t`,
    );
  const rows = await sql.unsafe<{ name: string; digest: string }[]>(digests.join(' union all '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** The number and the digest of a statement's lines, or the reason of its refusal. */
async function digest(sql: postgres.Sql, statement: string): Promise<string> {
  const counted = `select concat(count(*), ' ', md5(string_agg(line, '|'))) as digest from (${statement}) l`;
  const [row] = await sql.unsafe<{ digest: string }[]>(counted).catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && error.code === '22023') return [{ digest: error.message }];
    throw error;
  });
  return row?.digest ?? '';
}
