import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withGaps } from '../../../src/server/pages/charts/gaps.ts';
import { chartLink } from '../../../src/server/pages/charts/link.ts';
import { recordedDatabase } from '../../api/recorded-database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { ask, type PageServer, servePagesOf } from '../../support/page-server.ts';
import { letRead, type RevisedPoint, revisePoint } from './revised-point.ts';

let database: TestDatabase;
let sql: postgres.Sql;
let server: PageServer;
const warnings: unknown[] = [];
let revised: RevisedPoint;

beforeAll(async () => {
  database = await recordedDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await letRead(sql);
  server = await servePagesOf(database.url, { log: { warn: (told: unknown) => void warnings.push(told) } });
  revised = await revisePoint(sql);
});
afterAll(async () => {
  await server.close();
  await sql.end();
  await database.close();
});

const get = async (path: string) => {
  const { code, body } = await ask(server.address + path);
  return { code, body };
};
const plain = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('\u202f', '')
    .replaceAll(/\s+/g, ' ');

describe('a chart', () => {
  it('shows a revised point as known then and now, and its files have the same digits', async () => {
    const { chain_id, metric, time_interval, bucket_start: at, was, until, is } = revised;
    const { code, body } = await get(
      chartLink({
        of: 'metric_points',
        things: { chain_id, metric, time_interval },
        from: at,
        to: new Date(at.getTime() + 1),
        asOf: until,
      }).concat('&beside='),
    );
    expect(code).toBe(200);
    const iso = at.toISOString().replace('.000', '');
    expect(plain(body)).toContain(`${iso} ${was}`);
    const now = await get(
      chartLink({
        of: 'metric_points',
        things: { chain_id, metric, time_interval },
        from: at,
        to: new Date(at.getTime() + 1),
        asOf: null,
        beside: until,
      }),
    );
    expect(plain(now.body)).toContain(`${iso} ${is} ${was}`);
    const files = [...now.body.matchAll(/href="(\/query\.csv[^"]*)"/g)].map(([, path]) =>
      (path ?? '').replaceAll('&amp;', '&'),
    );
    expect(files).toHaveLength(2);
    const [current, past] = await Promise.all(files.map((path) => get(path)));
    expect(current?.body).toMatch(new RegExp(`,${is}\r\n$`));
    expect(past?.body).toMatch(new RegExp(`,${was}\r\n$`));
  });

  it('has no line where nothing is, and does not draw what it cannot', async () => {
    expect(plain((await get('/charts')).body)).toContain('Say what to draw: chain_id, metric, time_interval');
    const { body } = await get('/charts?chain_id=none&metric=txCount&time_interval=day');
    expect(body).toContain('There is nothing to draw in this window');
    expect(plain(body)).toContain('0 points');
  });

  it('says that there was no record at a moment', async () => {
    const { code, body } = await get(
      '/charts?chain_id=43114&metric=txCount&time_interval=day&as_of=2001-01-01',
    );
    expect(code).toBe(200);
    expect(plain(body)).toMatch(/43114 .*no record/i);
  });

  it.each([
    "/charts?of=runs'--",
    '/charts?of=metric_points&column=run_id&chain_id=1&metric=txCount&time_interval=day',
    '/charts?from=2026-01-02&to=2026-01-01',
    '/charts?as_of=2999-01-01',
    '/charts?from=0000-01-01',
    '/charts?from=infinity',
    '/charts?chain_id=%00',
    '/charts?chain_id=1&chain_id=2',
    '/charts?limit=1',
  ])('%s: is not understood, and says why', async (path) => {
    expect((await get(path)).code).toBe(400);
    expect(warnings).toEqual([]);
  });

  it('has a bounded number of lines, however many things are named', async () => {
    const many = Array.from({ length: 900 }, (_, at) => at).join(',');
    const { code, body } = await get(`/charts?chain_id=${many}&metric=${many}&time_interval=${many}`);
    expect(code).toBe(400);
    expect(body).toContain('a chart has at most 8 lines');
  });

  it.each([
    "/charts?chain_id=');drop table x;--&metric=<b>&time_interval='",
    '/charts?chain_id=43114&metric=txCount&time_interval=day&from=0001-01-01&to=9999-12-31',
    '/charts?chain_id=1,1,1&metric=,&time_interval=day',
  ])('%s: is drawn as what it is', async (path) => {
    const { code, body } = await get(encodeURI(path));
    expect(code).toBe(200);
    expect(body).not.toContain('<b>');
    expect(warnings).toEqual([]);
  });
});

describe('a gap', () => {
  const at = (hour: number) => [hour * 3_600_000, hour] as const;
  it('is where a point is missing, and nowhere else', () => {
    const points = [0, 1, 2, 5, 6].map(at);
    const drawn = withGaps(points, 3_600_000, 0);
    expect(drawn.map(([, value]) => value)).toEqual([0, 1, 2, null, 5, 6]);
    expect(withGaps([0, 1, 2, 3].map(at), 3_600_000, 0)).toHaveLength(4);
  });

  it('is not where points are thinned out, or read more seldom than by default', () => {
    expect(withGaps([0, 10, 20, 30].map(at), 3_600_000, 36_000_000)).toHaveLength(4);
    expect(withGaps([0, 6, 12, 18, 40].map(at), 3_600_000, 0).map(([, value]) => value)).toEqual([
      0,
      6,
      12,
      18,
      null,
      40,
    ]);
  });
});
