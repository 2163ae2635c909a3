import { request } from 'undici';
import { beforeAll, describe, expect } from 'vitest';
import { withPages } from '../../support/fixture.ts';
import { fieldsOf } from './html.ts';

const { it, sql, server, faults: warnings, sendRequest } = withPages({}, { max: 1 });

beforeAll(async () => {
  await sql`create table public.victim (n int)`;
});
const query = (question: string, more: Record<string, string> = {}) =>
  `?${new URLSearchParams({ sql: question, ...more })}`;
const answerTo = async (path: string) => {
  const { code, headers, body } = await sendRequest(path);
  return { code, type: headers['content-type'], body };
};
const page = (question: string, more: Record<string, string> = {}) =>
  answerTo(`/query${query(question, more)}`);
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ');

describe('a query', () => {
  it('returns every digit, as a table and as files', async () => {
    const statement = `select 340282366920938463463374607431768211456::numeric as "big<b>", 'a "b",\n<i>' as words, null as nothing, '=1+1' as "@formula"`;
    const { code, body } = await page(statement);
    expect(code).toBe(200);
    expect(textOf(body)).toContain(
      'big&lt;b> words nothing @formula 340282366920938463463374607431768211456 a "b", &lt;i> null =1+1',
    );
    expect(await answerTo(`/query.csv${query(statement)}`)).toEqual({
      code: 200,
      type: 'text/csv; charset=utf-8',
      body: `big<b>,words,nothing,'@formula\r\n340282366920938463463374607431768211456,"a ""b"",\\u000a<i>",,'=1+1\r\n`,
    });
    expect(await answerTo(`/query.json${query(statement)}`)).toEqual({
      code: 200,
      type: 'application/json; charset=utf-8',
      body: '[{"big<b>":"340282366920938463463374607431768211456","words":"a \\"b\\",\\n<i>","nothing":null,"@formula":"=1+1"}]\n',
    });
  });

  it('is kept in the form, and its links run it again', async () => {
    const { body } = await page("select '</textarea><script>' as x\n where 1 < 2");
    expect(body).toContain("select '&lt;/textarea>&lt;script>' as x\n where 1 &lt; 2</textarea>");
    const [, csv = ''] = /href="(\/query\.csv[^"]*)"/.exec(body) ?? [];
    expect(await answerTo(csv.replaceAll('&amp;', '&'))).toMatchObject({
      code: 200,
      body: 'x\r\n</textarea><script>\r\n',
    });
  });

  it('runs again at the same moment by its form', async () => {
    const asOf = '2026-01-01T12:00:00.250125Z';
    const at = (body: string) => fieldsOf(body).as_of;
    const first = at((await page('select 1', { as_of: asOf })).body);
    expect(`${first?.replace(' ', 'T')}Z`).toBe(asOf);
    expect(at((await page('select 1', { as_of: first ?? '' })).body)).toBe(first);
  });

  it('has the same files as a chart', async () => {
    const { body } = await answerTo(`/query${query('select 1 as a')}&show=chart`);
    for (const form of ['csv', 'json']) {
      const [, file = ''] = new RegExp(`href="(/query\\.${form}[^"]*)"`).exec(body) ?? [];
      expect(await answerTo(file.replaceAll('&amp;', '&'))).toMatchObject({ code: 200 });
    }
  });

  it('with many rows shows the first with a note, and truncated files are refused', async () => {
    const { body } = await page('select * from generate_series(1, 300) n');
    expect(textOf(body)).toContain('The table shows the first 200 rows');
    expect(body).toContain('>200</');
    expect(body).not.toContain('>201</');
    const file = await answerTo(`/query.csv${query('select * from generate_series(1, 50001) n')}`);
    expect(file).toMatchObject({ code: 400, body: expect.stringContaining('more than 50000 rows') });
    const whole = await answerTo(`/query.csv${query('select * from generate_series(1, 50000) n')}`);
    expect(whole.body.split('\r\n')).toHaveLength(50_002);
  });

  it('is drawn if it has times and numbers, a line per object, with gaps at missing values', async () => {
    const statement = `select timestamptz '2026-03-01Z' + n * interval '1 h' as at, thing, nullif(n, 2) as value
      from generate_series(0, 4) n, (values ('one'), ('two')) of(thing)`;
    const { body } = await page(statement, { show: 'chart' });
    const paths = [...body.matchAll(/<path class="line[^"]*" d="([^"]*)"/g)].map(([, path]) => path ?? '');
    expect(paths).toHaveLength(2);
    // Two points, a gap, and two points.
    for (const path of paths) expect(path.match(/[ML]/g)?.join('')).toBe('MLML');
    expect(textOf(body)).toContain('one: from 2026-03-01 00:00:00 to 2026-03-01 04:00:00, between 0 and 4');
    expect(textOf((await page('select 1 as one', { show: 'chart' })).body)).toContain(
      'A chart needs a column of times',
    );
  });

  it('may have a past moment', async () => {
    const moment = { as_of: '2026-01-01 12:00' };
    expect(textOf((await page('select * from validators', moment)).body)).toMatch(/no record|No rows/);
    const { body } = await page('select *\n from validators v where v.wrong = 1', moment);
    expect(textOf(body)).toContain('Line 2, character 26:');
    expect((await page('select 1', { as_of: '2999-01-01' })).code).toBe(400);
  });
});

describe('an invalid query', () => {
  it('shows the message of PostgreSQL, the place and the hint', async () => {
    const { code, body } = await page("select *\nfrom freshness\nwhere datase = '😀'");
    expect(code).toBe(200);
    expect(textOf(body)).toContain(
      'column "datase" does not exist Line 3, character 7: where datase = \'😀\'',
    );
    expect(body).toContain('<mark>datase</mark>');
    expect(textOf(body)).toContain('Perhaps you meant to reference the column');
  });

  it.each([
    'select 1; select 2',
    'select 1; set role none; create table public.stolen (n int)',
    'commit; drop table public.victim',
    'insert into public.victim values (1) returning n',
    'with w as (delete from public.victim returning n) select * from w',
    'select 1 into public.stolen',
    "copy (select 1) to program 'touch /tmp/x'",
    'select * from recorder.runs',
    'select * from public.victim',
    "select pg_read_file('/etc/passwd')",
    "select set_config('role', 'none', false)",
    'set role none',
    'select $1',
    'select 1/0',
    "select repeat('x', 5000000)",
    'explain analyze delete from public.victim',
    ';',
    "'",
    '/*',
  ])('%s: is refused on the page and as a file, at a past moment too', async (question) => {
    for (const moment of [{}, { as_of: '2026-01-01' }]) {
      const answer = await page(question, moment);
      expect(answer.code).toBe(200);
      expect(answer.body).toContain('role="alert"');
      for (const file of ['/query.json', '/query.csv'])
        expect((await answerTo(file + query(question, moment))).code).toBe(400);
    }
    expect(
      await sql`select to_regclass('public.stolen') as stolen, (select count(*)::int from public.victim) as victims`,
    ).toEqual([{ stolen: null, victims: 0 }]);
    expect(warnings).toEqual([]);
  });

  it.each([
    '/query?sql=a&sql=b',
    '/query?sql=%00',
    '/query?sql=select+1&as_of=yesterday',
    '/query?sql=select+1&show=%3Cb%3E',
    '/query.json',
    '/query.csv?sql=select+1&limit=1',
    '/query.json?sql=select+1+as+a,2+as+a',
  ])('%s: is refused with the reason', async (path) => {
    const { code, body } = await answerTo(path);
    expect(code).toBe(400);
    expect(body).not.toContain('<b>');
    expect(warnings).toEqual([]);
  });
});

it('a query that is too long for a link is marked so', async () => {
  const { code, body } = await page('x'.repeat(4_001));
  expect(code).toBe(400);
  expect(body).toContain('sql: must have at most 4000 characters');
});

describe('the result of a closed request', () => {
  const sleepingQueries = () =>
    sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name = 'chain-recorder query' and wait_event = 'PgSleep'`;

  it('is cancelled, and at most two queries run at once', async () => {
    const controller = new AbortController();
    const requests = [1, 2, 3].map(() =>
      request(`${server.address}/query${query('select pg_sleep(60)')}`, { signal: controller.signal }).catch(
        () => 'disconnected',
      ),
    );
    await expect.poll(sleepingQueries).toEqual([{ n: 2 }]);
    // Pages with their own queries are not delayed.
    expect((await answerTo('/')).code).toBe(200);
    controller.abort();
    expect(await Promise.all(requests)).toEqual(['disconnected', 'disconnected', 'disconnected']);
    await expect.poll(sleepingQueries).toEqual([{ n: 0 }]);
    await expect.poll(async () => textOf((await page('select 42 as n')).body)).toContain('n 42');
  });
});
