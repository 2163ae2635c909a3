import type postgres from 'postgres';
import { z } from 'zod';
import { parseMicroseconds } from '../../lib/instant.ts';
import { canonicalText } from '../../recording/histories/identity.ts';
import { relationSql } from '../views/declared-objects.ts';
import type { DatasetRelations } from './catalogue.ts';
import { encodeCursor } from './cursor.ts';
import { filterSql, instantParam } from './filters.ts';
import {
  filterShape,
  getParamText,
  type ListQuery,
  listFilterParameters,
  type ParsedParams,
  pageShape,
  parseListQuery,
} from './list-parameters.ts';
import { afterRowSql, orderExpression } from './order.ts';
import { explainQuery } from './query-plan.ts';
import { readingsBetween } from './readings-between.ts';
import { parseSort, type TypedOrderColumn } from './row-query.ts';
import type { Row } from './rows.ts';
import { ofFilteredSeries, seriesBySeries, seriesInOrder } from './series-numbers.ts';
import { LiteralStatementBuilder, type ParameterizedStatement, StatementBuilder } from './statement.ts';
import { readValue, valueTextSql } from './values.ts';
import { versionsOf } from './versions.ts';

/** A row that differs between the start and the end of a window. */
export interface RowDifference {
  /** `added`: only at the end; `changed`: other values at the end; `left`: only at the start. */
  readonly change: 'added' | 'changed' | 'left';
  readonly key: Row;
  /** The row at the start; null if it did not exist. */
  readonly before: Row | null;
  /** The row at the end; null if it does not exist. */
  readonly after: Row | null;
  /** The columns with other values; empty for an added or removed row. */
  readonly differs: readonly string[];
}

/**
 * A page of differences. `next` is the cursor of the next page; null if there is no next page. A page can
 * have fewer rows than the limit, or no rows, if many rows changed and changed back.
 */
export interface DifferencesPage {
  readonly rows: readonly RowDifference[];
  readonly next: string | null;
}

/**
 * Maximum number of compared keys per requested row. The maximum limits the cost of keys with unchanged
 * values.
 */
const KEYS_PER_ROW = 5;

/** The rows and the two moments of a query, in the input format of PostgreSQL. */
export interface DifferencesQuery extends ListQuery {
  readonly from: string;
  /** End of the window; null: now. */
  readonly to: string | null;
}

const moment = (description: string) => instantParam.meta({ ...instantParam.meta(), description });

/** Returns the columns by which differences can be filtered: the columns of the key. */
const listKeyColumns = ({ now }: DatasetRelations) =>
  now.columns.filter((column) => now.key.some(({ name }) => name === column.name));

/** Returns the filters of differences: filters of the columns of the key. */
export const differencesFilters = (dataset: DatasetRelations) =>
  listFilterParameters(listKeyColumns(dataset), ['from', 'to']);

/** Returns the schema of the parameters of {@link readDifferences}. */
export function differencesParameters(dataset: DatasetRelations): z.ZodType<DifferencesQuery> {
  const filters = differencesFilters(dataset);
  const shape = {
    from: moment('First of the two moments.'),
    to: moment('Second moment. Default: now.').optional(),
    ...filterShape(filters),
    ...pageShape,
  };
  const known = Object.keys(shape).join(', ');
  const error = 'changes are queried between two moments of knowledge, from and to; use ';
  return z
    .strictObject(shape, {
      error: ({ code }) => (code === 'unrecognized_keys' ? `${error}${known}` : undefined),
    })
    .transform((params: ParsedParams, context): DifferencesQuery => {
      const [from, to] = [getParamText(params, 'from') ?? '', getParamText(params, 'to') ?? null];
      if (to !== null && (parseMicroseconds(from) ?? 0) >= (parseMicroseconds(to) ?? 0))
        context.addIssue({ code: 'custom', path: ['from'], message: 'must be before to' });
      return { ...parseListQuery(filters, parseSort(dataset.now), params, context), from, to };
    });
}

/**
 * Reads the rows that differ between two moments of knowledge: added, removed or changed. Rows that changed
 * and changed back in between are not listed.
 * @throws PostgresError 22023 if there is no record at the first moment
 */
export async function readDifferences(
  sql: postgres.Sql,
  dataset: DatasetRelations,
  query: DifferencesQuery,
): Promise<DifferencesPage> {
  if (dataset.kind === 'sample') return readingsBetween(sql, dataset, query);
  const { content, relation } = versionsOf(dataset);
  const bySeries = relation.numbered ? await hasManyTouchedRows(sql, dataset, query) : false;
  const { text, values } = differencesStatement(dataset, query, bySeries);
  const { order, limit } = query;
  const answers = await sql.unsafe<Record<string, string | null>[]>(text, [...values]).values();
  const all = answers.map((row) => row.map((one) => (typeof one === 'string' ? one : null)));
  const found = all.filter((row) => row[order.columns.length] !== null);
  const rows = found.slice(0, limit);
  const [keys, contents] = [order.columns.length, content.length];
  const contentOf = (row: readonly (string | null)[], at: number): Row =>
    Object.fromEntries(
      content.map(({ name, type }, place) => [name, readValue(type, row[at + place] ?? null)]),
    );
  const last = found.length > limit ? rows.at(-1) : all[0]?.slice(keys + 2 + 2 * contents);
  const keyValue = ({ type, emptyForNull }: TypedOrderColumn, text: string | null) =>
    readValue(type, emptyForNull && text === '' ? null : text);
  return {
    rows: rows.map((row) => {
      const [was, is] = [row[keys] === 'true', row[keys + 1] === 'true'];
      const begin = keys + 2;
      return {
        change: was ? (is ? 'changed' : 'left') : 'added',
        key: Object.fromEntries(
          order.columns.map((column, at) => [column.name, keyValue(column, row[at] ?? null)]),
        ),
        before: was ? contentOf(row, begin) : null,
        after: is ? contentOf(row, begin + contents) : null,
        differs:
          was && is
            ? content
                .filter(({ type }, at) => isDifferent(type, row[begin + at], row[begin + contents + at]))
                .map(({ name }) => name)
            : [],
      };
    }),
    next:
      last && (found.length > limit || last[keys] === String(maxComparedKeys(limit)))
        ? encodeCursor({ sort: order.sort, values: last.slice(0, keys) })
        : null,
  };
}

/** Returns true if two texts are different values of a type. As in PostgreSQL, 2.5 equals 2.50. */
function isDifferent(
  type: string,
  one: string | null | undefined,
  other: string | null | undefined,
): boolean {
  if (one === other) return false;
  return one == null || other == null || canonicalText(one, type) !== canonicalText(other, type);
}

/**
 * Maximum number of versions in the window that are found by time and sorted. For more versions, reading each
 * series separately is faster.
 */
const MAX_SORTED_ROWS = 10_000;

/**
 * Returns true if, by the estimate of PostgreSQL, more than {@link MAX_SORTED_ROWS} versions start or end in
 * the window. Then a page is read faster if each series is read separately. The planner of PostgreSQL cannot
 * compare the two plans.
 */
async function hasManyTouchedRows(
  sql: postgres.Sql,
  dataset: DatasetRelations,
  query: DifferencesQuery,
): Promise<boolean> {
  const into = new StatementBuilder();
  const { touched } = statementOf(dataset, query, null, into);
  const plan = await explainQuery(sql, touched, into.values);
  return (plan?.['Plan Rows'] ?? 0) > MAX_SORTED_ROWS;
}

/**
 * Returns the statement that reads a page, with all columns as text: the key; whether the row existed before
 * and after (null: no difference); the values before and after; the last compared key; and the number of
 * compared keys.
 * @param bySeries for rows with a series number: search each series separately instead of by time
 */
export function differencesStatement(
  dataset: DatasetRelations,
  query: DifferencesQuery,
  bySeries = false,
): ParameterizedStatement {
  const into = new StatementBuilder();
  const { content } = versionsOf(dataset);
  const { order, limit } = query;
  const keys = (row: string) => order.columns.map(({ name, type }) => valueTextSql(type, `${row}."${name}"`));
  const names = order.columns.map(({ name }) => `"${name}"`);
  const contentOf = (row: string) => content.map(({ name }, at) => `${row}."${name}" as ${row}${at}`);
  const texts = (row: string) => content.map(({ type }, at) => valueTextSql(type, `d.${row}${at}`));
  const { before, touched, rest } = statementOf(dataset, query, maxComparedKeys(limit), into, bySeries);
  const text = `with ${before}touched as materialized (
${touched}
),
different as (
select ${[...names.map((name) => `t.${name}`), 'o.there as was_there', 'n.there as is_there', ...contentOf('o'), ...contentOf('n')].join(', ')}
${rest}
limit ${limit + 1}
),
last_compared as (
select ${names.join(', ')}, count(*) over () as compared_keys from touched order by ${names.map((name) => `${name} desc`).join(', ')} limit 1
)
select ${[
    ...keys('d'),
    `case when d.was_there or d.is_there then coalesce(d.was_there, false)::text end, coalesce(d.is_there, false)::text`,
    ...texts('o'),
    ...texts('n'),
    ...keys('s'),
    's.compared_keys::text',
  ].join(', ')}
from last_compared as s
left join different as d on true
order by ${names.map((name) => `d.${name}`).join(', ')}`;
  return { text, values: into.values };
}

/**
 * Returns the query of a page as SQL that people can read, copy and run. Each column appears as `X_before`
 * and `X_after`.
 */
export function differencesSql(dataset: DatasetRelations, query: DifferencesQuery): string {
  const { content } = versionsOf(dataset);
  const selected = [
    ...query.order.columns.map(({ name }) => `t."${name}"`),
    `case when o.there is null then 'added' when n.there is null then 'left' else 'changed' end as change`,
    ...content.flatMap(({ name }) => [`o."${name}" as "${name}_before"`, `n."${name}" as "${name}_after"`]),
  ];
  const { before, touched, rest } = statementOf(dataset, query, null, new LiteralStatementBuilder());
  return `with ${before}touched as (
${touched}
)
select ${selected.join(', ')}
${rest}
limit ${query.limit};`;
}

const maxComparedKeys = (limit: number) => KEYS_PER_ROW * limit;

/** The SQL parts of a query. */
interface Parts {
  /** Common table expressions that the other parts read; empty if there are none. */
  readonly before: string;
  /** A select of the keys with a version that starts or ends in the window, in order. */
  readonly touched: string;
  /**
   * FROM, WHERE and ORDER BY over `touched as t`, with the row at the start (`o`) and the row at the end
   * (`n`), for keys that differ.
   */
  readonly rest: string;
}

/**
 * Builds the SQL parts of a query. One condition selects the versions that start or end in the window, so
 * that PostgreSQL can choose the plan: a short window is read by time, and a long window in the order of the
 * index of the key.
 * @param most maximum number of compared keys; null: all
 * @param bySeries as in {@link differencesStatement}
 */
function statementOf(
  dataset: DatasetRelations,
  { from, to, filters, order, after }: DifferencesQuery,
  most: number | null,
  into: StatementBuilder,
  bySeries = false,
): Parts {
  const { from: all, parts, content, relation, at: asOfFunction } = versionsOf(dataset);
  const begin = into.value(from, 'timestamptz');
  const end = to === null ? 'now()' : into.value(to, 'timestamptz');
  // The filters of keys apply where the versions are read, so that other keys are not compared.
  const ofOneSeries = ofFilteredSeries(relation, filters, into);
  const keyConditions = [
    `reporting_internal.has_record(${into.value(dataset.name, 'text')}, ${begin})`,
    ...ofOneSeries,
    ...filters.map((one) => filterSql(one, into)),
  ];
  const pageConditions = () => [...keyConditions, ...(after ? [afterRowSql(order, after.values, into)] : [])];
  const names = order.columns.map(({ name }) => `"${name}"`);
  const keys = order.columns.map((one) => `${orderExpression(one)} as "${one.name}"`).join(', ');
  const bounded = most === null ? '' : `\norder by ${names.join(', ')}\nlimit ${most}`;
  const of = (row: string) => content.map(({ name }) => `${row}."${name}"`).join(', ');
  const differ = `(o.there is distinct from n.there or row(${of('o')}) is distinct from row(${of('n')}))`;
  const rest = (at: (name: 'o' | 'n') => string) => `from touched as t
left join ${at('o')} as o on true
left join ${at('n')} as n on true
where ${differ}
order by ${names.map((name) => `t.${name}`).join(', ')}`;
  if (asOfFunction !== null) {
    const rowsAtMomentSql = (name: string, moment: string) => `${name} as (
select ${keys}, ${of('r')}, true as there
from ${relationSql(asOfFunction)}(${moment}) as r
where ${pageConditions().join('\n  and ')}
)`;
    const views = { o: 'rows_before', n: 'rows_after' };
    return {
      before: `${rowsAtMomentSql(views.o, begin)},\n${rowsAtMomentSql(views.n, end)},\n`,
      touched: `select ${names.join(', ')}\nfrom ${views.o} as o\nfull join ${views.n} as n using (${names.join(', ')})\nwhere ${differ}${bounded}`,
      rest: rest(
        (name) =>
          `lateral (select * from ${views[name]} as r where ${names.map((key) => `r.${key} = t.${key}`).join(' and ')})`,
      ),
    };
  }
  const touching = `((r.begins > ${begin} and r.begins <= ${end}) or (r.ends > ${begin} and r.ends <= ${end} and r.ends_alone))`;
  const touchedIn = (part: string, conditions: readonly string[]) =>
    `select distinct ${keys}\nfrom ${part} as r\nwhere ${[touching, ...conditions].join('\n  and ')}`;
  const numbered = seriesInOrder(relation, order);
  const touched = (part: string) => {
    if (numbered && most !== null && bySeries)
      return seriesBySeries(numbered, { filters, after, order }, most, into, (conditions) =>
        touchedIn(part, [...conditions, ...keyConditions]),
      );
    const all = touchedIn(part, pageConditions());
    if (!numbered || most === null) return [all + bounded];
    // `offset 0` keeps PostgreSQL from scanning many series in key order to find the first few rows.
    return [(ofOneSeries.length > 0 ? all : `select * from (${all} offset 0) as few`) + bounded];
  };
  const selects = parts.flatMap(touched);
  const moments = { o: begin, n: end };
  return {
    before: '',
    touched:
      selects.length === 1
        ? selects.join('')
        : `${selects.map((one) => `(${one})`).join('\nunion\n')}${bounded}`,
    rest: rest(
      (name) => `lateral (
  select true as there, r.* from ${all} as r
  where ${order.columns.map((one) => `${orderExpression(one)} = t."${one.name}"`).join(' and ')}
    and r.begins <= ${moments[name]} and (r.ends is null or r.ends > ${moments[name]})
  order by r.begins desc limit 1)`,
    ),
  };
}
