import type postgres from 'postgres';
import { z } from 'zod';
import type { ReadableDataset } from './catalogue.ts';
import { type Cursor, cursorText } from './cursor.ts';
import { condition, type Filter, instant } from './filters.ts';
import {
  after,
  cursorIn,
  filterShape,
  filtersIn,
  filtersOf,
  limit,
  limitIn,
  type Told,
  textOf as told,
} from './list-parameters.ts';
import { columnOf, following, orderExpression, type Row } from './rows.ts';
import { type Order, orderBy } from './rows-question.ts';
import { type Asked, Statement } from './statement.ts';
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
export interface DifferencesQuestion {
  readonly from: string;
  /** Null: now. */
  readonly to: string | null;
  readonly filters: readonly Filter[];
  readonly order: Order;
  readonly after: Cursor | null;
  readonly limit: number;
}

const moment = (description: string) => instant.meta({ ...instant.meta(), description });

/** The columns by which differences can be filtered: those of the key. */
export const keyColumns = ({ now }: ReadableDataset) =>
  now.columns.filter((column) => now.key.some(({ name }) => name === column.name));

/** The parameters of {@link readDifferences}. */
export function differencesParameters(dataset: ReadableDataset): z.ZodType<DifferencesQuestion> {
  const filters = filtersOf(keyColumns(dataset), ['from', 'to']);
  const shape = {
    from: moment('The first of the two moments of knowledge.'),
    to: moment('The second one; now unless told.').optional(),
    ...filterShape(filters),
    after,
    limit,
  };
  const known = Object.keys(shape).join(', ');
  const error = 'what changed lies between two moments of knowledge, from and to; there are ';
  return z
    .strictObject(shape, {
      error: ({ code }) => (code === 'unrecognized_keys' ? `${error}${known}` : undefined),
    })
    .transform((given: Told, context): DifferencesQuestion => {
      const order = orderBy(dataset.now);
      return {
        from: told(given, 'from') ?? '',
        to: told(given, 'to') ?? null,
        filters: filtersIn(filters, given),
        order,
        after: cursorIn(given, order, context),
        limit: limitIn(given),
      };
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
  return {
    rows: rows.map((row) => {
      const [was, is] = [row[keys] === 'true', row[keys + 1] === 'true'];
      const begin = keys + 2;
      return {
        change: was ? (is ? 'changed' : 'left') : 'added',
        key: Object.fromEntries(
          order.columns.map(({ name }, at) => [name, readValue(types.get(name) ?? 'text', row[at] ?? null)]),
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

/** The key, whether it was and is there, and what it said and says. */
function differencesStatement(dataset: ReadableDataset, question: DifferencesQuestion): Asked {
  const into = new Statement();
  const { from: versions, content, readable } = versionsOf(dataset);
  const { order, filters } = question;
  const types = new Map(readable.columns.map(({ name, type }) => [name, type]));
  const typeOf = (name: string) => types.get(name) ?? 'text';
  const from = into.value(question.from, 'timestamptz');
  const to = question.to === null ? 'now()' : into.value(question.to, 'timestamptz');
  const wanted = filters
    .map((one) => ` and ${condition(one, typeOf(one.column), columnOf(one.column), into)}`)
    .join('');
  const keys = order.columns.map((one, at) => `${orderExpression(one)} as k${at}`).join(', ');
  const touched = (instant: string) =>
    `select ${keys} from ${versions} as r where r.${instant} > ${from} and r.${instant} <= ${to}${wanted}`;
  const at = (moment: string) => `lateral (
  select true as there, r.* from ${versions} as r
  where ${order.columns.map((one, place) => `${orderExpression(one)} = t.k${place}`).join(' and ')}
    and r.begins <= ${moment} and (r.ends is null or r.ends > ${moment})
  order by r.begins desc limit 1)`;
  const of = (row: string) => content.map(({ name }) => `${row}."${name}"`);
  const texts = (row: string) => content.map(({ name, type }) => textOf(type, `${row}."${name}"`));
  const conditions = [
    `reporting.has_record(${into.value(dataset.name, 'text')}, ${from})`,
    `(o.there is distinct from n.there or row(${of('o').join(', ')}) is distinct from row(${of('n').join(', ')}))`,
    ...(question.after
      ? [following(order, question.after.values, typeOf, into, (_, place) => `t.k${place}`)]
      : []),
  ];
  const selected = [
    ...order.columns.map(({ name }, place) => textOf(typeOf(name), `t.k${place}`)),
    'coalesce(o.there, false)::text, coalesce(n.there, false)::text',
    ...texts('o'),
    ...texts('n'),
  ];
  const text = `with touched as (
${touched('begins')}
union
${touched('ends')})
select ${selected.join(', ')}
from touched t
left join ${at(from)} o on true
left join ${at(to)} n on true
where ${conditions.join('\n  and ')}
order by ${order.columns.map((_, place) => `t.k${place}`).join(', ')}
limit ${question.limit + 1}`;
  return { text, values: into.values };
}
