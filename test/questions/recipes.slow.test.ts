import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { savedQueryCommand } from '../../src/cli/commands/saved-query.ts';
import { UsageError } from '../../src/lib/errors.ts';
import {
  PLACEHOLDERS,
  type QueryExample,
  reports,
  type SavedQuery,
  savedQueries,
  savedQueryNamed,
  savedQueryParameters,
  savedQuerySql,
} from '../../src/reporting/reports/saved-queries.ts';
import { retain } from '../../src/retention/retention.ts';
import { retainable } from '../../src/retention/retention-rules.ts';
import { type Exact, exactJson } from '../every-operation/exact-json.ts';
import { withDatabase } from '../support/fixture.ts';
import { ODD_ROWS } from '../support/odd-rows.ts';
import { reportedAsOf } from '../support/saved-queries.ts';
import { answersByZone, ZONES } from '../support/zones.ts';
import { plain } from './decimals.ts';
import { analystRows } from './truth/analyst.ts';
import { DAY, dayOf, type Row } from './truth/question.ts';
import { trueRows } from './truth/truth.ts';
import { recordedMonth, recordLedger, type World } from './world.ts';

const page = readFileSync(new URL('../../docs/reference/questions.md', import.meta.url), 'utf8');

/** The recipes of the page: the query, in SQL and on the command line. */
const recipes = [
  ...page.matchAll(/^\*\*(.+)\*\*\n\n```sql\n(.+);\n```\n\n```sh\nchain-recorder report (\S+)(.*)\n```$/gm),
].map(([, heading = '', statement = '', name = '', options = '']) => ({ heading, statement, name, options }));

const declared = savedQueries().flatMap((part) =>
  part.queries.flatMap((savedQuery) => savedQuery.examples.map((example) => ({ savedQuery, example }))),
);

const { it, database } = withDatabase();
let world: World;
/** A poll in the middle of the month, and the results of the reports at that time. */
const MIDDLE = Date.UTC(2026, 2, 20, 6);
let resultsAtMiddle: Readonly<Record<string, string>>;
const reportAsOfMiddle = () =>
  reportedAsOf(database.url, new Date(MIDDLE), new Date(Date.UTC(2026, 2, 2)), {
    chain_id: '43114',
    metric: 'txCount',
  });

beforeAll(async () => {
  world = await recordedMonth(database.url, async (moment) => {
    if (moment === MIDDLE) resultsAtMiddle = await reportAsOfMiddle();
  });
}, 600_000);
afterAll(async () => {
  await world?.recorder.sql.end();
  await world?.sandbox.close();
});

/** The ids in place of the reader's own. */
function fillIn(template: string): string {
  const { sandbox } = world;
  const ids = {
    [PLACEHOLDERS.node]: sandbox.watch.nodeIds[2] ?? '',
    [PLACEHOLDERS.address]: sandbox.watch.addresses[0] ?? '',
    [PLACEHOLDERS.evmAddress]: sandbox.evm.get('43114')?.address(2) ?? '',
    [PLACEHOLDERS.subnet]: sandbox.network.subnets[2]?.subnetId ?? '',
  };
  return Object.entries(ids).reduce((filled, [name, id]) => filled.replaceAll(name, id), template);
}

function truth(savedQuery: SavedQuery, { values }: QueryExample): Row[] | null {
  const filled = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fillIn(value)]));
  return trueRows(world, savedQuery.answer.name, filled);
}

/** Returns a value in the form of the truth: exact decimals without trailing zeros, moments in one form. */
function canonical(value: unknown): string | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  const raw = String(value);
  if (/^-?\d+(\.\d+)?$/.test(raw)) return plain(raw);
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(raw)) return new Date(raw).toISOString();
  return raw;
}

/** Returns the first rows of a result as a table of Markdown. */
function resultTable(names: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const firstRows = rows.slice(0, 5).map((row) => row.map((value) => canonical(value) ?? ''));
  const more = rows.length > 5 ? [`\n${rows.length - 5} more rows.\n`] : [''];
  return [names, names.map(() => '---'), ...firstRows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .concat(more)
    .join('\n');
}

/** Returns rows as comparable lines, with the columns of the truth. */
function lines(rows: readonly object[], like: readonly Row[]): string[] {
  const names = Object.keys(like[0] ?? rows[0] ?? {}).sort();
  return rows
    .map((row) => {
      const cells = new Map(Object.entries(row));
      return names.map((name) => `${name}=${canonical(cells.get(name))}`).join(' ');
    })
    .sort();
}

/** Runs `report` with the options of the page. */
async function report(name: string, options: string): Promise<readonly Exact[]> {
  const savedQuery = savedQueryNamed(name);
  if (!savedQuery) throw new Error(`no report ${name}`);
  const pairs = [...options.matchAll(/--(\S+) (\S+)/g)].map(([, option = '', value = '']) => ({
    option,
    value,
  }));
  const one = (option: string) => pairs.find((pair) => pair.option === option)?.value;
  const out = new PassThrough();
  const [printed] = await Promise.all([
    text(out),
    savedQueryCommand(
      { databaseUrl: database.url, clock: world.clock.now },
      savedQuery,
      {
        from: one('from'),
        to: one('to'),
        asOf: one('as-of'),
        param: pairs.filter(({ option }) => option === 'param').map(({ value }) => value),
        format: 'json',
      },
      new AbortController().signal,
      out,
    ).finally(() => out.end()),
  ]);
  const rows = exactJson(printed);
  if (!Array.isArray(rows)) throw new Error(`${name} printed no list`);
  return rows;
}

describe('docs/reference/questions.md', () => {
  it('has at least fifty queries, each declared once', () => {
    expect(recipes.map(({ heading, name }) => `${name}: ${heading}`)).toEqual(
      declared.map(({ savedQuery, example }) => `${savedQuery.name}: ${example.text}`),
    );
    expect(recipes.length).toBeGreaterThanOrEqual(50);
  });

  describe.each(
    declared.map((one, at) => ({ ...one, at, heading: one.example.text, name: one.savedQuery.name })),
  )('$name: $heading', ({ savedQuery, example, at }) => {
    const recipe = () => recipes[at] ?? { statement: '', name: '', options: '' };

    it('in SQL', async () => {
      const expected = truth(savedQuery, example);
      const result = world.recorder.sql.unsafe(fillIn(recipe().statement));
      if (expected === null) return expect(result).rejects.toMatchObject({ code: '22023' });
      expect(expected, 'there are expected rows').not.toEqual([]);
      expect(lines(await result, expected)).toEqual(lines(expected, expected));
    });

    it('by report', async () => {
      const expected = truth(savedQuery, example);
      const result = report(recipe().name, fillIn(recipe().options));
      if (expected === null) return expect(result).rejects.toThrow(UsageError);
      const rows = (await result).map((row) => Object(row));
      expect(lines(rows, expected)).toEqual(lines(expected, expected));
    });

    const acceptsAsOf = savedQueryParameters(savedQuery).some(({ name }) => name === 'as_of');
    if (!acceptsAsOf) return;
    it('not before the record starts', async () => {
      const past = { ...example.values, as_of: '2026-03-01T05:59' };
      const result = world.recorder.sql.unsafe(fillIn(savedQuerySql(savedQuery, past)));
      const hint = expect.stringContaining('recorded since 2026-03-01T06:00:00');
      const isRefusedAnyway = truth(savedQuery, example) === null;
      await expect(result).rejects.toMatchObject({ code: '22023', ...(isRefusedAnyway ? {} : { hint }) });
    });
    if (example.values.as_of !== undefined) return;
    it('as it was known on March 24', async () => {
      const past = { ...example, values: { ...example.values, as_of: '2026-03-24T12:00' } };
      const expected = truth(savedQuery, past);
      const result = world.recorder.sql.unsafe(fillIn(savedQuerySql(savedQuery, past.values)));
      if (expected === null) return expect(result).rejects.toMatchObject({ code: '22023' });
      expect(lines(await result, expected)).toEqual(lines(expected, expected));
    });
  });
});

it('every recipe returns the same rows in any session time zone', async () => {
  const statements = recipes.map(({ statement }) => fillIn(statement));
  const { UTC = [], ...others } = await answersByZone(world.recorder.sql, statements, ODD_ROWS);
  expect(UTC.filter((rows) => rows.length > 0).length).toBeGreaterThan(50);
  for (const zone of ZONES.slice(1)) expect(others[zone], zone).toEqual(UTC);
});

it('every query of a past moment returns the same bytes two weeks later', async () => {
  // `test/reporting/reports/as-of.test.ts` covers these two, which need a ledger.
  const others = ['uptime', 'sla'];
  const withAsOf = reports().filter(({ name, notAsOf }) => notAsOf === null && !others.includes(name));
  expect(Object.keys(resultsAtMiddle)).toEqual(withAsOf.map(({ name }) => name));
  const unanswered = Object.entries(resultsAtMiddle).filter(([, output]) => !/\r\n./.test(output));
  expect(unanswered).toEqual([]);
  expect(await reportAsOfMiddle()).toEqual(resultsAtMiddle);
});

describe('docs/how-to/analyst-queries.md', () => {
  const page = new URL('../../docs/how-to/analyst-queries.md', import.meta.url);
  const markdown = readFileSync(page, 'utf8');
  const QUERY = /^## (.+)\n([^#]*?```sql\n)([^`]+;)\n```\n(?:\n\|[^#]*)?/gm;
  const queries = [...markdown.matchAll(QUERY)].map(([, heading = '', , statement = '']) => ({
    heading,
    statement,
  }));
  const results = new Map<string, string>();

  beforeAll(async () => {
    await recordLedger(world.recorder.sql);
  });

  it('has twelve queries of at most eight lines', () => {
    expect(queries.map(({ heading }) => heading)).toEqual(Object.keys(analystRows(world)));
    expect(queries).toHaveLength(12);
    for (const { statement, heading } of queries)
      expect(statement.split('\n').length, heading).toBeLessThanOrEqual(8);
  });

  it.each(queries)('$heading', async ({ heading, statement }) => {
    const expected = analystRows(world)[heading]?.() ?? [];
    expect(expected).not.toEqual([]);
    const result = await world.recorder.sql.unsafe(statement);
    results.set(
      heading,
      resultTable(
        result.columns.map(({ name }) => name),
        result.map(Object.values),
      ),
    );
    expect(lines(result, expected)).toEqual(lines(expected, expected));
  });

  it('has the first rows of each result (written by vitest -u)', async () => {
    const current = markdown.replaceAll(
      QUERY,
      (_, heading: string, head: string, statement: string) =>
        `## ${heading}\n${head}${statement}\n\`\`\`\n\n${results.get(heading)}\n`,
    );
    await expect(`${current.trimEnd()}\n`).toMatchFileSnapshot(fileURLToPath(page));
  });
});

it('a window that starts before the retained time returns the retained part, unchanged', async () => {
  const retainedFrom = Date.UTC(2026, 2, 16);
  // These compare their first days with the previous time.
  const lookBack = new Map([
    ['blocks-proposed', DAY],
    ['supply-over-time', DAY],
    ['metric-week-over-week', 7 * DAY],
  ]);
  const windows = declared.filter(
    ({ savedQuery, example }) => example.values.from !== undefined && truth(savedQuery, example) !== null,
  );
  // Earlier starts are reported as the start of the retained time.
  const withSince = new Set(['fees-over-time', 'node-versions']);
  const answersFrom = async (from: (start: string) => string, clipped = false) => {
    const results: Record<string, string[]> = {};
    for (const { savedQuery, example } of windows) {
      const values = { ...example.values, from: from(example.values.from ?? '') };
      const rows = await world.recorder.sql.unsafe<{ row: string; at: string | null }[]>(
        `select (case when ${clipped && withSince.has(savedQuery.name)} then r.row || jsonb_build_object('since',
           greatest((r.row ->> 'since')::timestamptz, '${dayOf(retainedFrom)}')) else r.row end)::text as row, coalesce(r.row ->> 'day', r.row ->> 'week') as at
         from (select to_jsonb(a) as row from (${fillIn(savedQuerySql(savedQuery, values))}) a) r`,
      );
      const first = new Date(retainedFrom + (lookBack.get(savedQuery.name) ?? 0)).toISOString().slice(0, 10);
      results[`${savedQuery.name}: ${example.text}`] = rows
        .filter(
          ({ at }) =>
            !lookBack.has(savedQuery.name) || at === null || at < dayOf(retainedFrom) || at >= first,
        )
        .map(({ row }) => row);
    }
    return results;
  };
  const before = await answersFrom(
    (start) => (Date.parse(start) < retainedFrom ? dayOf(retainedFrom) : start),
    true,
  );
  const now = world.clock.now();
  const retention = {
    ...Object.fromEntries(retainable.map(({ name }) => [name, now - retainedFrom])),
    // The price of a reward may be a day older.
    native_balance_values: now - retainedFrom + DAY,
  };
  const removed = await retain(world.recorder.sql, retention, now, new AbortController().signal);
  for (const name of ['validators', 'subnets', 'peers', 'metric_points', 'proposed_blocks'])
    expect(removed.find(({ dataset }) => dataset === name)?.removed, name).toBeGreaterThan(0);
  expect(await answersFrom((start) => start)).toEqual(before);
});
