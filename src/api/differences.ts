import type postgres from 'postgres';
import { z } from 'zod';
import { instantIn } from '../instant.ts';
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
import type { OrderColumn } from './readable.ts';
import { columnOf, following, orderExpression, type Row } from './rows.ts';
import { orderBy } from './rows-question.ts';
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

/** A page of differences; `next` is the cursor after which the next page begins, null: there is none. */
export interface DifferencesPage {
  readonly rows: readonly Difference[];
  readonly next: string | null;
}

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
      if (to !== null && (instantIn(from) ?? 0) >= (instantIn(to) ?? 0))
        context.addIssue({ code: 'custom', path: ['from'], message: 'must be before to' });
      return { ...listIn(filters, orderBy(dataset.now), given, context), from, to };
    });
}

/**
 * Reads what is not the same at two moments of knowledge: what came, left, or says something else. What changed and changed back
 * in between is no difference.
 * @throws PostgresError 22023 when there is no record at the first moment
 */
export async function readDifferences(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  question: DifferencesQuestion,
): Promise<DifferencesPage> {
  const { text, values } = differencesStatement(dataset, question);
  const { content, readable } = versionsOf(dataset);
  const { order, limit } = question;
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const found = await sql.unsafe<Record<string, string | null>[]>(text, [...values]).values();
  const rows = found.slice(0, limit).map((row) => row.map((one) => (typeof one === 'string' ? one : null)));
  const [keys, contents] = [order.columns.length, content.length];
  const said = (row: readonly (string | null)[], at: number): Row =>
    Object.fromEntries(
      content.map(({ name, type }, place) => [name, readValue(type, row[at + place] ?? null)]),
    );
  const last = rows.at(-1);
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
                .filter((_, at) => row[begin + at] !== row[begin + contents + at])
                .map(({ name }) => name)
            : [],
      };
    }),
    next: found.length > limit && last ? cursorText({ sort: order.sort, values: last.slice(0, keys) }) : null,
  };
}

/** The statement that reads a page: the key, whether it was and is there, and what it said and says, all as texts. */
function differencesStatement(dataset: ReadableDataset, question: DifferencesQuestion): Asked {
  const into = new Statement();
  const { content, readable } = versionsOf(dataset);
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const texts = (row: string) => content.map(({ name, type }) => textOf(type, `${row}."${name}"`));
  const selected = [
    ...question.order.columns.map(({ name }) => textOf(types.get(name) ?? 'text', `t."${name}"`)),
    'coalesce(o.there, false)::text, coalesce(n.there, false)::text',
    ...texts('o'),
    ...texts('n'),
  ];
  return { text: statementOf(dataset, question, selected, question.limit + 1, into), values: into.values };
}

/** The same question as SQL to be read, copied and run: what was said stands beside what is said, as `X_before` and `X_after`. */
export function differencesSql(dataset: ReadableDataset, question: DifferencesQuestion): string {
  const { content } = versionsOf(dataset);
  const selected = [
    ...question.order.columns.map(({ name }) => `t."${name}"`),
    `case when o.there is null then 'added' when n.there is null then 'left' else 'changed' end as change`,
    ...content.flatMap(({ name }) => [`o."${name}" as "${name}_before"`, `n."${name}" as "${name}_after"`]),
  ];
  return `${statementOf(dataset, question, selected, question.limit, new ReadableStatement())};`;
}

function statementOf(
  dataset: ReadableDataset,
  { from, to, filters, order, after }: DifferencesQuestion,
  selected: readonly string[],
  limit: number,
  into: Statement,
): string {
  const { from: versions, content, readable } = versionsOf(dataset);
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const typeOf = (name: string) => types.get(name) ?? 'text';
  const begin = into.value(from, 'timestamptz');
  const end = to === null ? 'now()' : into.value(to, 'timestamptz');
  // Which keys are wanted is said where the versions are read, so that the others are not even compared.
  const wanted = [
    ...filters.map((one) => condition(one, typeOf(one.column), columnOf(one.column), into)),
    ...(after ? [following(order, after.values, typeOf, into)] : []),
  ]
    .map((one) => `\n  and ${one}`)
    .join('');
  const keys = order.columns.map((one) => `${orderExpression(one)} as "${one.name}"`).join(', ');
  const touched = (instant: string) =>
    `select ${keys}\nfrom ${versions} as r\nwhere r.${instant} > ${begin} and r.${instant} <= ${end}${wanted}`;
  const at = (moment: string) => `lateral (
  select true as there, r.* from ${versions} as r
  where ${order.columns.map((one) => `${orderExpression(one)} = t."${one.name}"`).join(' and ')}
    and r.begins <= ${moment} and (r.ends is null or r.ends > ${moment})
  order by r.begins desc limit 1)`;
  const of = (row: string) => content.map(({ name }) => `${row}."${name}"`).join(', ');
  return `with touched as (
${touched('begins')}
union
${touched('ends')}
)
select ${selected.join(', ')}
from touched as t
left join ${at(begin)} as o on true
left join ${at(end)} as n on true
where reporting.has_record(${into.value(dataset.name, 'text')}, ${begin})
  and (o.there is distinct from n.there or row(${of('o')}) is distinct from row(${of('n')}))
order by ${order.columns.map(({ name }) => `t."${name}"`).join(', ')}
limit ${limit}`;
}
