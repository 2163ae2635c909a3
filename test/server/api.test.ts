import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import postgres from 'postgres';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { ReadGate } from '../../src/db/read-gate.ts';
import { getCatalogue } from '../../src/reporting/relations/catalogue.ts';
import { walkPages } from '../reporting/relations/pages.ts';
import { withPages } from '../support/fixture.ts';
import { servePagesOf } from '../support/page-server.ts';
import { makeSeriesOf } from '../support/points.ts';

const catalogue = getCatalogue();
const {
  it,
  database,
  sql,
  faults: warnings,
  sendRequest,
} = withPages((url) => ({ gate: new ReadGate(url, { maxWaitMs: 60_000, waiting: 1_000 }) }), {
  recorded: true,
  max: 4,
});

beforeAll(async () => {
  // More than a page, of a metric that must not be summed.
  await makeSeriesOf(sql);
  await sql`insert into recorder.metric_points
    (series_id, bucket_start, value, valid_from, run_id)
    select (select public.series_of('many', 'activeAddresses', 'day')), timestamptz '2020-01-01 00:00Z' + n * interval '1 day', n, now(), 1
    from generate_series(0, 1499) as n`;
});

const get = async (path: string, options: Parameters<typeof sendRequest>[1] = {}) => {
  const { code, headers, body } = await sendRequest(path, options);
  return { code, headers, text: body };
};
const api = async (path: string) => {
  const { code, text } = await get(`/api/v1${path}`);
  expect(code, `${path}: ${text.slice(0, 300)}`).toBe(200);
  return JSON.parse(text);
};

const document = z.looseObject({
  paths: z.record(
    z.string(),
    z.object({
      get: z.looseObject({
        operationId: z.string(),
        parameters: z.array(z.object({ $ref: z.string() })),
        responses: z.looseObject({
          200: z.looseObject({
            content: z.looseObject({ 'application/json': z.object({ schema: z.looseObject({}) }) }),
          }),
        }),
      }),
    }),
  ),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()),
    parameters: z.record(z.string(), z.looseObject({ name: z.string(), required: z.boolean().optional() })),
  }),
});
let served: Promise<z.infer<typeof document>> | undefined;
/** Returns the document, fetched once. */
const openApi = () => {
  served ??= get('/openapi.json').then(({ text }) => document.parse(JSON.parse(text)));
  return served;
};

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse((await get('/openapi.json')).text));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('has every path once', async () => {
    const { paths } = await openApi();
    const ids = Object.values(paths).map((path) => path.get.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const name of catalogue.datasets.keys())
      expect(Object.keys(paths)).toEqual(
        expect.arrayContaining(
          ['', '/rows', '/rows/history', '/changes', '/coverage'].map((rest) => `/datasets/${name}${rest}`),
        ),
      );
    for (const name of catalogue.views.keys()) expect(paths).toHaveProperty([`/views/${name}`]);
  });

  const names = [...catalogue.datasets.keys(), ...catalogue.views.keys()];
  const isOf = (path: string, name: string) => path.split('/').includes(name);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let rows = 0;
  it.each([...new Set(names), null])('has the schema of the responses of %s', async (name) => {
    const { paths, components } = await openApi();
    if (ajv.schemas.document === undefined) ajv.addSchema({ $id: 'document', components });
    for (const [path, { get: operation }] of Object.entries(paths)) {
      if (name === null ? names.some((one) => isOf(path, one)) : !isOf(path, name)) continue;
      const values = await requiredValues(
        path,
        resolveReferences(operation.parameters, components.parameters),
      );
      if (values === null) continue;
      const answer = await api(`${path}?${new URLSearchParams(values)}`);
      const text = JSON.stringify(operation.responses[200].content['application/json'].schema);
      const check = ajv.compile(JSON.parse(text.replaceAll('"#/components', '"document#/components')));
      expect(check(answer), `${path}: ${ajv.errorsText(check.errors)}`).toBe(true);
      rows += Array.isArray(answer.rows) ? answer.rows.length : 0;
    }
  });

  it('was compared with many rows', () => expect(rows).toBeGreaterThan(1_000));
});

/** The parameters of an operation, which the document has once for all. */
const resolveReferences = <P>(
  references: readonly { readonly $ref: string }[],
  parameters: Readonly<Record<string, P>>,
) => references.flatMap(({ $ref }) => parameters[$ref.replace('#/components/parameters/', '')] ?? []);

/** Values for the required parameters; null: they are unknown. */
async function requiredValues(
  path: string,
  parameters: readonly { readonly name: string; readonly required?: boolean | undefined }[],
): Promise<Record<string, string> | null> {
  const exampleValues: Readonly<Record<string, string>> = {
    from: '2026-10-01',
    to: '2026-11-01',
    at: '2026-10-20',
    valid_from: '2026-10-01',
    valid_to: '2026-11-01',
    chain_id: '43114',
    metric: 'txCount',
    grain: 'P1D',
  };
  if (path === '/changes') return {};
  if (path.endsWith('/changes')) {
    const [, dataset = ''] = /datasets\/(\w+)/.exec(path) ?? [];
    const [row] = await sql<{ at: string | null }[]>`
      select to_char(min(recorded_since), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from reporting_internal.recorded_since where dataset = ${dataset}`;
    return row?.at ? { from: row.at } : null;
  }
  if (path.endsWith('/series') || path.includes('_as_of')) return null;
  const needed = parameters.filter(({ required }) => required);
  const missing = needed.filter(({ name }) => exampleValues[name] === undefined);
  expect(missing, path).toEqual([]);
  return Object.fromEntries(needed.map(({ name }) => [name, exampleValues[name] ?? '']));
}

describe('responses', () => {
  it('are pages: next links to the rest, and the last page has none', async () => {
    const whole = await api('/datasets/node_validators/rows?limit=1000&columns=node,node_id');
    const paged = await walkPages((after) => {
      const query = new URLSearchParams({ limit: '7', columns: 'node,node_id', ...after });
      return api(`/datasets/node_validators/rows?${query}`);
    });
    expect(whole.rows.length).toBeGreaterThan(20);
    expect(paged).toEqual(whole.rows);
  });

  it('are CSV by extension or by format, with all rows, and memory bounded by pages', async () => {
    const byEnding = await get(
      '/api/v1/datasets/metric_points/rows.csv?columns=chain_id,metric,time_interval,bucket_start',
    );
    const byFormat = await get(
      '/api/v1/datasets/metric_points/rows?columns=chain_id,metric,time_interval,bucket_start&format=csv',
    );
    expect(byEnding.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(byFormat.text).toBe(byEnding.text);
    const lines = byEnding.text.trimEnd().split('\r\n');
    const [counted] = await sql<{ count: number }[]>`select count(*)::int from reporting.metric_points`;
    expect(lines[0]).toBe('chain_id,metric,time_interval,bucket_start');
    expect(lines.length - 1).toBe(counted?.count);
    expect(lines.length).toBeGreaterThan(1_001); // more than a page
    expect(new Set(lines).size).toBe(lines.length);
    const few = await get('/api/v1/views/runs.csv?limit=3');
    expect(few.text.trimEnd().split('\r\n')).toHaveLength(4);
  });

  it('are CSV with as many differences as requested, also behind many reverted changes', async () => {
    const [moment] = await sql<{ from: string }[]>`
      with at as (select date_trunc('milliseconds', now()) as at), versions as (
        insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
        select public.series_of('reverted', 'txCount', 'day'), '2020-01-01Z'::timestamptz + n * interval '24 hours', v.value, v.starts, v.ends, 1
        from at, generate_series(1, 20) n, lateral (values (0, at - interval '1 hour', at), (7, at, at + interval '1 microsecond'),
          (n / 19, at + interval '1 microsecond', null)) as v(value, starts, ends))
      select to_char(at - interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as from from at`;
    const path = `/api/v1/datasets/metric_points/changes.csv?from=${moment?.from}&chain_id=reverted&limit`;
    const countLines = async (limit: number) =>
      (await get(`${path}=${limit}`)).text.trimEnd().split('\r\n').length;
    expect([await countLines(1), await countLines(2), await countLines(3)]).toEqual([2, 3, 3]);
    await sql`delete from recorder.metric_points where series_id = public.series_of('reverted', 'txCount', 'day')`;
  });

  it('are CSV for people, without formulas, and exactly as JSON', async () => {
    const notes = ['=1+1', 'a;@x', 'two\nlines', 'a\u202eb', '-1.50'];
    await sql`insert into recorder.incident_notes (node, at, author, note, written_at)
      select 'formulas', now(), 'me', note, now() from unnest(${notes}::text[]) with ordinality l(note, place) order by place`;
    const query = 'node=formulas&columns=note&sort=id';
    const { text } = await get(`/api/v1/views/incident_notes.csv?${query}`);
    expect(text).toBe("note\r\n'=1+1\r\na;'@x\r\ntwo\\u000alines\r\na\\u202eb\r\n-1.50\r\n");
    const { rows } = await api(`/views/incident_notes?${query}`);
    expect(rows).toEqual(notes.map((note) => ({ note })));
    await sql`delete from recorder.incident_notes where node = 'formulas'`;
  });

  describe('responses with texts longer than a URL', () => {
    // Of every kind whose URL encoding is longer than the text.
    const long = ['a', 'é', '漢', '😀', '\u0001', '"'].map((one) => one.repeat(10_000 / one.length));
    const minRows = 1_002;
    beforeAll(async () => {
      await sql`insert into recorder.incident_notes (node, at, author, note, written_at)
        select 'long', now(), 'me', l.note || n, now() from generate_series(1, ${minRows / long.length}::int) n, unnest(${long}::text[]) l(note)`;
    });
    afterAll(async () => {
      await sql`delete from recorder.incident_notes where node = 'long'`;
    });

    it.each([
      '/views/incident_notes?node=long&columns=id&limit=300',
      '/views/incident_notes?node=long&columns=id&limit=100&sort=note',
      '/views/incident_notes?node=long&columns=id&limit=100&sort=-note',
    ])('are pages that link to the next one: %s', async (path) => {
      const whole = await api(path.replace(/limit=\d+/, 'limit=1000'));
      const paged: unknown[] = [];
      let after: string | null = '';
      while (after !== null && paged.length < whole.rows.length) {
        const page = await api(after ? `${path}&after=${encodeURIComponent(after)}` : path);
        paged.push(...page.rows);
        after = page.next;
      }
      expect(whole.rows.length).toBeGreaterThan(5);
      expect(paged.slice(0, whole.rows.length)).toEqual(whole.rows);
    });

    it.each(['', '&sort=note'])('are CSV of more than a page: %s', async (sort) => {
      const { code, text } = await get(`/api/v1/views/incident_notes.csv?node=long&columns=id${sort}`);
      expect({ code, lines: new Set(text.split('\r\n')).size }).toEqual({ code: 200, lines: minRows + 2 });
    });
  });

  it('have intervals as ISO 8601 durations, which are valid parameters', async () => {
    await sql`insert into recorder.metric_settling
      (metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, measured_at)
      select 'm' || place, 'day', 1, 1, moved::interval, '1 h', '1 h', now()
      from unnest(array['-10 min', '-0.000001 s', '0', '24 h', '3 days 04:05:06.5', '1 year 2 mons -3 days']) with ordinality as t(moved, place)`;
    const view = '/views/metric_settling';
    const columns = 'metric,half_moved_within';
    const durations = ['PT-10M', 'PT-0.000001S', 'PT0S', 'PT24H', 'P3DT4H5M6.5S', 'P1Y2M-3D'];
    const expected = durations.map((one, at) => ({ metric: `m${at + 1}`, half_moved_within: one }));
    expect((await api(`${view}?columns=${columns}`)).rows).toEqual(expected);
    const csv = await get(`/api/v1${view}.csv?columns=${columns}`);
    expect(csv.text.split('\r\n').slice(1, -1)).toEqual(
      expected.map((row) => `${row.metric},${row.half_moved_within}`),
    );
    for (const row of expected) {
      const query = new URLSearchParams({ columns, half_moved_within: row.half_moved_within });
      expect((await api(`${view}?${query}`)).rows).toEqual([row]);
    }
    const paged = await walkPages((after) =>
      api(`${view}?${new URLSearchParams({ columns, sort: '-half_moved_within', limit: '1', ...after })}`),
    );
    expect(paged).toEqual(expected.toReversed());
    await sql`truncate recorder.metric_settling`;
  });

  it('with a grain that is no duration are refused with a sentence', async () => {
    for (const grain of ['PT0S', 'PT-10M', 'P-1M', 'P1M-40D', 'P999999Y']) {
      const { code, text } = await get(`/api/v1/views/node_uptime_by?grain=${grain}`);
      expect({ code, text }, grain).toEqual({ code: 400, text: expect.stringContaining('No result') });
    }
    expect((await api('/views/node_uptime_by?grain=P1M')).rows.length).toBeGreaterThan(0);
  });

  it('have an ETag, and are not sent again to clients that have them', async () => {
    const path = '/api/v1/datasets/subnets/rows';
    const { headers, text } = await get(path);
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"/);
    expect(await get(path, { headers: { 'if-none-match': etag } })).toMatchObject({ code: 304, text: '' });
    expect(await get(path, { headers: { 'if-none-match': 'W/"other"' } })).toMatchObject({ code: 200, text });
    const head = await get(path, { method: 'HEAD' });
    expect({ code: head.code, text: head.text, etag: head.headers.etag }).toEqual({
      code: 200,
      text: '',
      etag,
    });
    expect(await get(`${path}.csv`, { method: 'HEAD' })).toMatchObject({ code: 200, text: '' });
  });

  it('report all errors as application/problem+json, with the allowed values', async () => {
    const { code, headers, text } = await get('/api/v1/datasets/subnets/rows?limit=x&sort=y&as_of=z&color=1');
    expect(code).toBe(400);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    const problem = JSON.parse(text);
    expect(problem).toMatchObject({ type: 'about:blank', title: 'Invalid request', status: 400 });
    expect(problem.problems.map(({ parameter }: { parameter: string }) => parameter)).toEqual([
      'sort',
      'limit',
      'as_of',
      'color',
    ]);
    const missing = await get('/api/v1/datasets/nothing/rows');
    expect(missing.code).toBe(404);
    expect(missing.text).toMatch(/below \/api\/v1\/datasets there are metric_points, average_tps/);
  });

  it('of a moment before the record contain its start, and those of the future are refused', async () => {
    expect(JSON.parse((await get('/api/v1/datasets/subnets/rows?as_of=2001-01-01')).text)).toMatchObject({
      status: 400,
      detail: expect.stringMatching(
        /^there is no record of subnets at 2001-01-01T00:00:00Z; recorded since 2026-/,
      ),
    });
    expect((await get('/api/v1/datasets/subnets/rows?as_of=2999-01-01')).text).toContain('is in the future');
  });

  it('of saved queries equal those of the reports, and errors contain the reason', async () => {
    const { rows } = await api('/questions/metric-rules');
    expect(rows.length).toBeGreaterThan(5);
    const refused = await get(
      '/api/v1/questions/metric-total?from=2020-01-01&to=2021-01-01&metric=activeAddresses&chain_ids=many',
    );
    expect(refused.code).toBe(400);
    expect(JSON.parse(refused.text).detail).toMatch(/active/i);
  });
});

const HOSTILE = [
  "' or true --",
  "'; drop schema reporting cascade; --",
  '$1',
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%',
  '\\u0000',
  '"',
  '["a"]',
  '{}',
  '-1',
  '0',
  '1e999',
  '99999999999999999999',
  'NaN',
  'infinity',
  '-infinity',
  '0000-01-01',
  '9999-12-31T23:59:59.9999999999Z',
  '2026-13-45',
  '2026-01-01T00:00:00%2B99:99',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  'x'.repeat(5_000),
  '%F0%9F%92%A9'.repeat(1_000),
  '',
];

describe('hostile requests', () => {
  it.each([
    '/datasets/metric_points/rows',
    '/datasets/node_validators/changes',
    '/datasets/node_p_blocks/coverage',
    '/datasets/validator_uptime/series',
    '/questions/top-chains',
  ])('of %s are refused with a reason or answered, and never fail', async (path) => {
    const { paths, components } = await openApi();
    const codes = new Set<number>();
    const names = resolveReferences(paths[path]?.get.parameters ?? [], components.parameters).map(
      ({ name }) => name,
    );
    expect(names.length, path).toBeGreaterThan(2);
    // One filter of each kind: thousands are checked by the same few schemas.
    const kinds = new Map(names.map((name) => [name.includes('.') ? name.replace(/^.*\./, '') : name, name]));
    for (const name of [...kinds.values(), '__proto__', 'x'])
      for (const value of HOSTILE) {
        const { code, text } = await get(
          `/api/v1${path}?${name}=${value.includes('%') ? value : encodeURIComponent(value)}`,
        );
        expect(code < 500, `${path}?${name}=${value.slice(0, 40)}: ${code} ${text.slice(0, 200)}`).toBe(true);
        codes.add(code);
      }
    const twice = await get(`/api/v1${path}?limit=1&limit=2&format=csv&format=json`);
    expect(twice.code).toBe(400);
    expect([...codes].filter((code) => code !== 200 && code !== 400)).toEqual([]);
    expect(codes).toContain(400);
    expect(warnings).toEqual([]);
    expect((await sql`select count(*)::int as count from reporting.subnets`)[0]?.count).toBeGreaterThan(0);
  });

  it('with forged cursors are refused', async () => {
    for (const values of [
      ['a', 'b', 'c', 'not a time'],
      ['a', 'b', 'c', 'infinity'],
      [null, null, null, null],
      ["'", '"', '\\', '2026-01-01 00:00:00 America/Nowhere'],
      ['\0', '\ud800', 'c', '2026-01-01'],
    ]) {
      const after = encodeURIComponent(`chain_id${JSON.stringify(values)}`);
      const { code, text } = await get(`/api/v1/datasets/metric_points/rows?after=${after}`);
      expect([200, 400], `${JSON.stringify(values)}: ${code} ${text}`).toContain(code);
    }
    expect(warnings).toEqual([]);
  });

  it('for unknown paths return 404', async () => {
    for (const path of [
      '/..%2f..%2fetc/passwd',
      '/datasets/%2e%2e/rows',
      '/datasets/pg_catalog.pg_authid/rows',
      '/%00',
      '//',
      '/views/pg_shadow',
    ])
      expect([400, 404], path).toContain((await get(`/api/v1${path}`)).code);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const)
      expect((await get('/api/v1/datasets', { method })).code).toBe(404);
  });
});

it('are shed with a time to retry if too much is read at once, and closed ones are cancelled', async () => {
  const narrow = new ReadGate(database.url, { maxConcurrent: 1, waiting: 1 });
  const small = await servePagesOf(database.url, { gate: narrow });
  const at = small.address;
  const locker = postgres(database.url, { max: 1 });
  let release = () => {};
  const locked = new Promise<void>((resolve) => {
    void locker
      .begin(async (sql) => {
        await sql`lock table recorder.subnets in access exclusive mode`;
        resolve();
        await new Promise<void>((done) => {
          release = done;
        });
      })
      .catch(() => {});
  });
  await locked;
  const countWaiting = async () =>
    (
      await sql<{ count: number }[]>`
      select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and query like '%subnets%'
        and datname = current_database()`
    )[0]?.count;
  const controller = new AbortController();
  const first = request(`${at}/api/v1/datasets/subnets/rows`, { signal: controller.signal }).catch(
    (error: Error) => error.name,
  );
  await expect.poll(countWaiting).toBe(1);
  const second = request(`${at}/api/v1/datasets/subnets/rows`);
  await expect.poll(async () => (await request(`${at}/api/v1/datasets/subnets/rows`)).statusCode).toBe(503);
  const third = await request(`${at}/api/v1/datasets/subnets/rows`);
  expect(third.headers['retry-after']).toBe('2');
  expect(await third.body.json()).toMatchObject({ status: 503, title: 'Too many concurrent reads' });
  controller.abort();
  expect(await first).toBe('AbortError');
  release();
  expect((await second).statusCode).toBe(200);
  await locker.end();
  await small.close();
});
