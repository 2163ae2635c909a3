import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { printRows, type RowFormat } from '../../../src/cli/output/print-rows.ts';
import { queryAsReader } from '../../../src/db/query-as-reader.ts';
import type { OutputStream } from '../../../src/lib/output-stream.ts';
import { startCommand } from '../../support/cli.ts';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Duck, openDuck } from '../../warehouse/lake.ts';

const { it, database } = withDatabase();
const dir = temporaryFolder('query');
beforeAll(async () => {
  writeFileSync(
    join(dir, 'recorder.yaml'),
    'network: mainnet\nupstreams: { nodes: [{ name: n, url: "http://127.0.0.1:1" }] }\n',
  );
});

/** Returns the output to a pipe, or to a terminal with this number of columns. */
async function printQuery(question: string, format: RowFormat, columns?: number): Promise<string> {
  const out: OutputStream = Object.assign(
    new PassThrough(),
    columns === undefined ? {} : { isTTY: true, columns },
  );
  const all = text(out as PassThrough);
  await queryAsReader(
    database.url,
    question,
    { timeout: 20_000, asOf: null, signal: new AbortController().signal },
    (answer) => printRows(answer, format, out),
  );
  out.end();
  return all;
}

const ODD = `select 'a,"b"' as "x,y", e'two\\nlines' as two, '' as empty, null as nothing, 1.10::numeric as exact, e'\\u001b[31m\\u202e' as hostile, '=1+1' as "@formula"`;

describe('rows', () => {
  it('are CSV for people, with the empty text distinct from null', async () => {
    expect(await printQuery(ODD, 'csv')).toBe(
      `"x,y",two,empty,nothing,exact,hostile,'@formula\r\n"a,""b""",two\\u000alines,"",,1.10,\\u001b[31m\\u202e,'=1+1\r\n`,
    );
    expect(await printQuery('select 1 as one where false', 'csv')).toBe('one\r\n');
  });

  it('are JSON whose numbers are strings if a double would round them', async () => {
    const json = await printQuery(
      `select 340282366920938463463374607431768211456::numeric as big, 1.10::numeric as exact, null as nothing, e'\\u001b' as hostile, array[1.0] as list`,
      'json',
    );
    expect(json).toBe(
      '[\n{"big":"340282366920938463463374607431768211456","exact":"1.1","nothing":null,"hostile":"\\u001b","list":[1]}\n]\n',
    );
    expect(await printQuery('select 1 as one where false', 'json')).toBe('[]\n');
    expect(JSON.parse(await printQuery('select * from generate_series(1, 2500) n', 'json'))).toHaveLength(
      2500,
    );
  });

  it('are a table with right-aligned numbers and no control characters', async () => {
    expect(await printQuery(`select 'a' as word, 5 as n union all select 'longer', 500`, 'table')).toBe(
      'word      n\na         5\nlonger  500\n',
    );
    const odd = await printQuery(ODD, 'table', 200);
    expect(odd).toContain('\\u001b[31m\\u202e');
    expect(odd.split('\n')).toHaveLength(3);
    expect(await printQuery(ODD, 'csv', 200)).toContain('\\u001b[31m\\u202e');
    expect(await printQuery('select 1 as one where false', 'table')).toBe('one\n(no rows)\n');
  });

  it('fit the terminal: wide columns are truncated, and too many columns become a list', async () => {
    const cut = await printQuery(
      `select 'id' as id, repeat('x', 500) as long, repeat('y', 20) as short`,
      'table',
      60,
    );
    expect(cut.split('\n').every((line) => line.length <= 60)).toBe(true);
    expect(cut).toContain('…');
    expect(cut).toContain('y'.repeat(20));
    const many = Array.from({ length: 30 }, (_, at) => `'value ${at}' as column_${at}`).join(', ');
    const list = await printQuery(`select ${many}`, 'table', 60);
    expect(list).toContain('column_7   value 7\n');
    expect(await printQuery(`select repeat('x', 500) as long`, 'table')).toContain('x'.repeat(500));
  });

  it('have local times on a terminal, and exact times in UTC in a pipe', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const question = `select timestamptz '2026-01-01 00:00:00.000125Z' as at, 'infinity'::timestamptz as never`;
    expect(await printQuery(question, 'table', 80)).toContain(
      '\n2026-01-01 09:00:00.000125+09:00  infinity\n',
    );
    expect(await printQuery(question, 'table')).toContain('\n2026-01-01T00:00:00.000125+00:00  infinity\n');
    expect(await printQuery(question, 'csv', 80)).toContain('\n2026-01-01T00:00:00.000125+00:00,infinity\n');
    vi.unstubAllEnvs();
  });

  it('of the first block decide the widths; a longer one later is complete in a pipe', async () => {
    const table = await printQuery(
      `select case when n = 2000 then 'a long one' else 'short' end as word, n from generate_series(1, 2000) n`,
      'table',
    );
    expect(table.split('\n')).toHaveLength(2002);
    expect(table).toContain('a long one  2000');
  });
});

describe('the command query', () => {
  const query = (args: readonly string[]) =>
    runCommand(['query', ...args], { DATABASE_URL: database.url }, dir);

  it('prints a result, also as JSON', async () => {
    expect(await query(['select 1 as one'])).toMatchObject({ code: 0, stdout: 'one\n  1\n' });
    expect(await query(['select 1 as one', '--json'])).toMatchObject({
      code: 0,
      stdout: '[\n{"one":1}\n]\n',
    });
  });

  it('ends quietly when its reader closes the pipe of an endless result', async () => {
    const { code, stdout, stderr } = await startCommand(
      ['query', 'select generate_series(1, 1000000000) as n', '--format', 'csv'],
      { DATABASE_URL: database.url },
      dir,
      'head -n 3',
    ).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'n\r\n1\r\n2\r\n', stderr: '' });
  });
});

describe('a Parquet file', () => {
  let duck: Duck;
  beforeAll(async () => {
    duck = await openDuck();
  });
  afterAll(() => duck.close());
  const file = () => join(dir, 'rows.parquet');
  const parquet = async (question: string) => {
    const args = ['query', question, '--format', 'parquet'];
    const { stdoutBytes, ...result } = await runCommand(args, { DATABASE_URL: database.url }, dir);
    writeFileSync(file(), stdoutBytes);
    return result;
  };
  const columns = async () => {
    const described = await duck.rows(
      `select column_name, column_type from (describe select * from '${file()}')`,
    );
    return Object.fromEntries(described);
  };

  it('has each value in its type, with every digit', async () => {
    const question = `
      select * from (values
        (1, true, 9223372036854775807, -0.1::float8, '2026-11-26 10:00:00.123456+00'::timestamptz, 12345678901234567890123456789012345678, 1.10,
          e'\u2028 a\r\n"b"', array[1, 2], 'infinity'::timestamptz, 1e40::numeric, null::int),
        (2, null, -5, 'NaN', '0001-01-01 00:00:00+00', -7, -20000000000000000000.000000000000000001, '', null, now(), 'NaN', null)
      ) as v (small, flag, whole, double, moment, long, exact, words, list, beyond, huge, nothing)`;
    expect(await parquet(question)).toMatchObject({ code: 0, stderr: '' });
    expect(await columns()).toEqual({
      ...{ small: 'BIGINT', flag: 'BOOLEAN', whole: 'BIGINT', double: 'DOUBLE' },
      ...{
        moment: 'TIMESTAMP WITH TIME ZONE',
        long: 'DECIMAL(38,0)',
        exact: 'DECIMAL(38,18)',
        words: 'VARCHAR',
      },
      ...{ list: 'VARCHAR', beyond: 'VARCHAR', huge: 'VARCHAR', nothing: 'BIGINT' },
    });
    const rows = await duck.rows(
      `select small::text, flag::text, whole::text, double::text, moment::text, long::text, exact::text, words, list, huge, nothing::text
      from '${file()}' order by small`,
    );
    expect(rows).toEqual([
      [
        ...['1', 'true', '9223372036854775807', '-0.1', '2026-11-26 10:00:00.123456+00'],
        ...['12345678901234567890123456789012345678', '1.100000000000000000', '\u2028 a\r\n"b"', '[1,2]'],
        ...['1'.padEnd(41, '0'), null],
      ],
      [
        ...[
          '2',
          null,
          '-5',
          'nan',
          '0001-01-01 00:00:00+00',
          '-7',
          '-20000000000000000000.000000000000000001',
        ],
        ...['', null, 'NaN', null],
      ],
    ]);
  });

  it('has the rows of a result of many blocks, in their order', async () => {
    await parquet(`select n, repeat('x', n % 500) as words from generate_series(1, 30000) n`);
    expect(
      await duck.rows(
        `select count(*)::text, sum(n)::text, sum(length(words))::text, bool_and(n = place)::text
        from (select *, row_number() over () as place from '${file()}')`,
      ),
    ).toEqual([['30000', '450015000', '7485000', 'true']]);
  });

  it('without rows has its columns', async () => {
    await parquet('select 1 as one, 1.5 as two where false');
    expect(await columns()).toEqual({ one: 'BIGINT', two: 'DECIMAL(38,0)' });
  });

  it('ends quietly when its reader closes the pipe, and leaves no file', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'recorder-parquet-'));
    const ended = await startCommand(
      ['query', `select n, md5(n::text) as words from generate_series(1, 100000) n`, '--format', 'parquet'],
      { DATABASE_URL: database.url, TMPDIR: temporary },
      dir,
      'head -c 4',
    ).ended;
    expect(ended).toMatchObject({ code: 0, stdout: 'PAR1', stderr: '' });
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });
});
