import type postgres from 'postgres';
import { z } from 'zod';
import { microsecondsIn } from '../../lib/instant.ts';
import { identity } from '../../recording/histories/identity.ts';
import type { ReadableDataset } from './catalogue.ts';
import { cursorText } from './cursor.ts';
import { condition, instant } from './filters.ts';
import {
  filterShape,
  filtersOf,
  type ListQuestion,
  listIn,
  pageShape,
  type Told,
  textOf as told,
} from './list-parameters.ts';
import { columnOf, following, orderExpression } from './order.ts';
import { planOf } from './query-plan.ts';
import type { OrderColumn } from './readable.ts';
import { readingsBetween } from './readings-between.ts';
import { orderBy } from './row-query.ts';
import type { Row } from './rows.ts';
import { ofFilteredSeries, seriesBySeries, seriesInOrder } from './series-numbers.ts';
import { type Asked, ReadableStatement, Statement } from './statement.ts';
import { readValue, textOf } from './values.ts';
import { versionsOf } from './versions.ts';

/** A row that is not at the end of a window what it was at its begin. */
export interface Difference {
  /** `added`: it came; `changed`: it says something else; `left`: it is not there any more. */
  readonly change: 'added' | 'changed' | 'left';
  readonly key: Row;
  /** What the row said at the begin; null: it was not there. */
  readonly before: Row | null;
  /** What the row says at the end; null: it is not there. */
  readonly after: Row | null;
  /** The columns that say something else; of a row that came or left none. */
  readonly differs: readonly string[];
}

/**
 * A page of differences; `next` is the cursor after which the next page begins, null: there is none. A page can have less than was
 * asked for, also nothing, where many rows changed and changed back.
 */
export interface DifferencesPage {
  readonly rows: readonly Difference[];
  readonly next: string | null;
}

/** For each row that is wanted so many keys are looked at: those that are the same again cost no more than others. */
const LOOKED_AT = 5;

/** Which rows, and between which moments; as PostgreSQL reads them. */
export interface DifferencesQuestion extends ListQuestion {
  readonly from: string;
  /** Null: now. */
  readonly to: string | null;
}

const moment = (description: string) => instant.meta({ ...instant.meta(), description });

/** The columns by which differences can be filtered: those of the key. */
export const keyColumns = ({ now }: ReadableDataset) =>
  now.columns.filter((column) => now.key.some(({ name }) => name === column.name));

/** The filters of differences: those of the key. */
export const differencesFilters = (dataset: ReadableDataset) =>
  filtersOf(keyColumns(dataset), ['from', 'to']);

/** The parameters of {@link readDifferences}. */
export function differencesParameters(dataset: ReadableDataset): z.ZodType<DifferencesQuestion> {
  const filters = differencesFilters(dataset);
  const shape = {
    from: moment('The first of the two moments of knowledge.'),
    to: moment('The second one; now unless told.').optional(),
    ...filterShape(filters),
    ...pageShape,
  };
  const known = Object.keys(shape).join(', ');
  const error = 'what changed lies between two moments of knowledge, from and to; there are ';
  return z
    .strictObject(shape, {
      error: ({ code }) => (code === 'unrecognized_keys' ? `${error}${known}` : undefined),
    })
    .transform((given: Told, context): DifferencesQuestion => {
      const [from, to] = [told(given, 'from') ?? '', told(given, 'to') ?? null];
      if (to !== null && (microsecondsIn(from) ?? 0) >= (microsecondsIn(to) ?? 0))
        context.addIssue({ code: 'custom', path: ['from'], message: 'must be before to' });
      return { ...listIn(filters, orderBy(dataset.now), given, context), from, to };
    });
}

/**
 * Reads what is not the same at two moments of knowledge: what came, left, or says something else. Rows that changed and changed back in between are not listed.
 * @throws PostgresError 22023 when there is no record at the first moment
 */
export async function readDifferences(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  question: DifferencesQuestion,
): Promise<DifferencesPage> {
  if (dataset.kind === 'sample') return readingsBetween(sql, dataset, question);
  const { content, readable } = versionsOf(dataset);
  const bySeries = readable.numbered ? await touchesMany(sql, dataset, question) : false;
  const { text, values } = differencesStatement(dataset, question, bySeries);
  const { order, limit } = question;
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const told = await sql.unsafe<Record<string, string | null>[]>(text, [...values]).values();
  const all = told.map((row) => row.map((one) => (typeof one === 'string' ? one : null)));
  const found = all.filter((row) => row[order.columns.length] !== null);
  const rows = found.slice(0, limit);
  const [keys, contents] = [order.columns.length, content.length];
  const said = (row: readonly (string | null)[], at: number): Row =>
    Object.fromEntries(
      content.map(({ name, type }, place) => [name, readValue(type, row[at + place] ?? null)]),
    );
  const last = found.length > limit ? rows.at(-1) : all[0]?.slice(keys + 2 + 2 * contents);
  const keyValue = ({ name, emptyForNull }: OrderColumn, text: string | null) =>
    readValue(types.get(name) ?? 'text', emptyForNull && text === '' ? null : text);
  return {
    rows: rows.map((row) => {
      const [was, is] = [row[keys] === 'true', row[keys + 1] === 'true'];
      const begin = keys + 2;
      return {
        change: was ? (is ? 'changed' : 'left') : 'added',
        key: Object.fromEntries(
          order.columns.map((column, at) => [column.name, keyValue(column, row[at] ?? null)]),
        ),
        before: was ? said(row, begin) : null,
        after: is ? said(row, begin + contents) : null,
        differs:
          was && is
            ? content
                .filter(({ type }, at) => isOther(type, row[begin + at], row[begin + contents + at]))
                .map(({ name }) => name)
            : [],
      };
    }),
    next:
      last && (found.length > limit || last[keys] === String(lookedAt(limit)))
        ? cursorText({ sort: order.sort, values: last.slice(0, keys) })
        : null,
  };
}

/** Whether two texts are different values of a type, as PostgreSQL says it: 2.5 is 2.50. */
function isOther(type: string, one: string | null | undefined, other: string | null | undefined): boolean {
  if (one === other) return false;
  return one == null || other == null || identity(one, type) !== identity(other, type);
}

/** As many rows as are sooner found by time and sorted than series by series, of all series. */
const FEW = 10_000;

/** Whether so many rows were touched that a page of them is sooner found series by series. PostgreSQL cannot weigh the two. */
async function touchesMany(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  question: DifferencesQuestion,
): Promise<boolean> {
  const into = new Statement();
  const { touched } = statementOf(dataset, question, null, into);
  const plan = await planOf(sql, touched, into.values);
  return (plan?.['Plan Rows'] ?? 0) > FEW;
}

/**
 * The statement that reads a page: the key, whether it was and is there (null: nothing is different), what it said and says, the last
 * key that was looked at, and how many were; all as texts.
 * @param bySeries of rows that stand by number: they are looked for series by series, not by time
 */
export function differencesStatement(
  dataset: ReadableDataset,
  question: DifferencesQuestion,
  bySeries = false,
): Asked {
  const into = new Statement();
  const { content, readable } = versionsOf(dataset);
  const { order, limit } = question;
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const keys = (row: string) =>
    order.columns.map(({ name }) => textOf(types.get(name) ?? 'text', `${row}."${name}"`));
  const names = order.columns.map(({ name }) => `"${name}"`);
  const said = (row: string) => content.map(({ name }, at) => `${row}."${name}" as ${row}${at}`);
  const texts = (row: string) => content.map(({ type }, at) => textOf(type, `d.${row}${at}`));
  const { before, touched, rest } = statementOf(dataset, question, lookedAt(limit), into, bySeries);
  const text = `with ${before}touched as materialized (
${touched}
),
different as (
select ${[...names.map((name) => `t.${name}`), 'o.there as was_there', 'n.there as is_there', ...said('o'), ...said('n')].join(', ')}
${rest}
limit ${limit + 1}
),
seen as (
select ${names.join(', ')}, count(*) over () as looked_at from touched order by ${names.map((name) => `${name} desc`).join(', ')} limit 1
)
select ${[
    ...keys('d'),
    `case when d.was_there or d.is_there then coalesce(d.was_there, false)::text end, coalesce(d.is_there, false)::text`,
    ...texts('o'),
    ...texts('n'),
    ...keys('s'),
    's.looked_at::text',
  ].join(', ')}
from seen as s
left join different as d on true
order by ${names.map((name) => `d.${name}`).join(', ')}`;
  return { text, values: into.values };
}

/** The same question as SQL to be read, copied and run: what was said stands beside what is said, as `X_before` and `X_after`. */
export function differencesSql(dataset: ReadableDataset, question: DifferencesQuestion): string {
  const { content } = versionsOf(dataset);
  const selected = [
    ...question.order.columns.map(({ name }) => `t."${name}"`),
    `case when o.there is null then 'added' when n.there is null then 'left' else 'changed' end as change`,
    ...content.flatMap(({ name }) => [`o."${name}" as "${name}_before"`, `n."${name}" as "${name}_after"`]),
  ];
  const { before, touched, rest } = statementOf(dataset, question, null, new ReadableStatement());
  return `with ${before}touched as (
${touched}
)
select ${selected.join(', ')}
${rest}
limit ${question.limit};`;
}

const lookedAt = (limit: number) => LOOKED_AT * limit;

/** SQL of what is asked. */
interface Parts {
  /** Common table expressions that the others read; empty: there are none. */
  readonly before: string;
  /** A select of the keys that were touched, in order. */
  readonly touched: string;
  /** FROM, WHERE and ORDER BY over `touched as t`, with what was said at the begin (`o`) and at the end (`n`) of those that differ. */
  readonly rest: string;
}

/**
 * One condition says what was touched, so that PostgreSQL can take either the few of a short window by time, or those of a long one
 * as the index of the key gives them.
 * @param most how many keys are looked at; null: all
 * @param bySeries as of {@link differencesStatement}
 */
function statementOf(
  dataset: ReadableDataset,
  { from, to, filters, order, after }: DifferencesQuestion,
  most: number | null,
  into: Statement,
  bySeries = false,
): Parts {
  const { from: all, parts, content, readable, at: heldAt } = versionsOf(dataset);
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const typeOf = (name: string) => types.get(name) ?? 'text';
  const begin = into.value(from, 'timestamptz');
  const end = to === null ? 'now()' : into.value(to, 'timestamptz');
  // Which keys are wanted is said where the versions are read, so that the others are not even compared.
  const ofOneSeries = ofFilteredSeries(readable, filters, into);
  const held = [
    `reporting.has_record(${into.value(dataset.name, 'text')}, ${begin})`,
    ...ofOneSeries,
    ...filters.map((one) => condition(one, typeOf(one.column), columnOf(one.column), into)),
  ];
  const wanted = [...held, ...(after ? [following(order, after.values, typeOf, into)] : [])].join('\n  and ');
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
  if (heldAt !== null) {
    const held = (name: string, moment: string) => `${name} as (
select ${keys}, ${of('r')}, true as there
from reporting.${heldAt}(${moment}) as r
where ${wanted}
)`;
    const views = { o: 'held_before', n: 'held_after' };
    return {
      before: `${held(views.o, begin)},\n${held(views.n, end)},\n`,
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
  const numbered = seriesInOrder(readable, order);
  const touched = (part: string) => {
    const all = touchedIn(part, [wanted]);
    if (!numbered || most === null) return [all + bounded];
    if (bySeries)
      return seriesBySeries(numbered, { filters, after, order }, most, typeOf, into, (conditions) =>
        touchedIn(part, [...conditions, ...held]),
      );
    // The offset keeps PostgreSQL from walking through many series for the first of a few rows.
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
