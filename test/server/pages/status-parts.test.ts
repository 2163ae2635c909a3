import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { catalogNames } from '../../../src/app/configured-feeds.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { UsageError } from '../../../src/lib/errors.ts';
import { sealUntil } from '../../../src/reporting/seals/seal.ts';
import { readStatusSite } from '../../../src/server/status-site.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { day, hour, type Observation, secondsIn, write } from './node-states.ts';

const now = Date.UTC(2026, 4, 17, 9, 41);
const observation: Observation = {
  observer: 'paris',
  node: 'steady',
  states: [
    [Date.UTC(2024, 1, 10, 6), 'up'],
    [Date.UTC(2024, 1, 29), 'down'],
    [Date.UTC(2024, 2, 1), 'up'],
    [Date.UTC(2024, 6, 31, 12), 'maintenance'],
    [Date.UTC(2024, 7, 2, 12), 'unknown'],
    [Date.UTC(2024, 7, 3), 'up'],
  ],
  absences: [],
};
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);

const dir = temporaryFolder('status');
const { it, database, sql } = withDatabase();
let server: PageServer;

/** The site of a configuration with a logo. */
function siteWith(name: string, body: string | Buffer) {
  const logo = join(dir, name);
  writeFileSync(logo, body);
  const file = join(dir, 'recorder.yaml');
  const node = '{ name: steady, url: "http://127.0.0.1:1" }';
  writeFileSync(
    file,
    `network: mainnet\nupstreams: { nodes: [${node}] }\nserver: { status: { logo: ${JSON.stringify(logo)} } }\n`,
  );
  return readStatusSite(loadConfig(file, catalogNames));
}

beforeAll(async () => {
  await write(sql, [observation], now);
  server = await servePagesOf(database.url, { clock: () => now, site: siteWith('logo.svg', svg) });
});
afterAll(async () => {
  await server.close();
});

const get = (path: string) => sendRequest(server.address + path);

describe('the calendar of a year', () => {
  const FIELD =
    /<a href="([^"]*)" tabindex="-1"><g><title>(\d{4}-\d{2}-\d{2}): [^<]*<\/title>((?:<rect[^>]*>(?:<\/rect>)?)+)<\/g><\/a>/gi;
  const number = (rect: string, name: string) => Number(new RegExp(` ${name}="([^"]*)"`).exec(rect)?.[1]);

  it('has each day in the row of its month and the column of its date, with its states', async () => {
    const { code, body } = await get('/status/steady?from=2024-01-01&to=2025-01-01&grain=1d');
    expect(code).toBe(200);
    const [, calendar = ''] = /<svg class="states calendar"[^>]*>(.*?)<\/svg>/s.exec(body) ?? [];
    const days = [...calendar.matchAll(FIELD)].map(([, href = '', date = '', rects = '']) => {
      const [first = '', ...more] = rects.split('<rect').slice(1);
      const states = [first, ...more].map((rect) => / class="(\w+)"/.exec(rect)?.[1]);
      return { href, date, x: number(first, 'x'), top: Math.floor(number(first, 'y') / 12), states };
    });
    const expected = Array.from({ length: 366 }, (_, at) => {
      const from = Date.UTC(2024, 0, 1) + at * day;
      const seconds = secondsIn([observation], 'steady', from, from + day);
      const states = (['up', 'unknown', 'maintenance', 'down'] as const).filter(
        (state) => seconds[state] > 0,
      );
      const date = new Date(from);
      const text = date.toISOString().slice(0, 10);
      return {
        href: `/status/steady?from=${text}T00%3A00&amp;to=${new Date(from + day).toISOString().slice(0, 10)}T00%3A00`,
        date: text,
        x: 46 + (date.getUTCDate() - 1) * 12,
        top: date.getUTCMonth() + 1,
        states: states.length === 0 ? ['unrecorded'] : states,
      };
    });
    expect(days).toEqual(expected);
    for (const state of ['up', 'down', 'maintenance', 'unknown', 'unrecorded'])
      expect(expected.some(({ states }) => states.includes(state))).toBe(true);
    const months = [...calendar.matchAll(/>(\d{4}-\d{2})<\/text>/g)].map(([, month]) => month);
    expect(months).toEqual(Array.from({ length: 12 }, (_, at) => `2024-${String(at + 1).padStart(2, '0')}`));
  });

  it('links to the day by the hour, and every day is a text beside it', async () => {
    const { code, body } = await get('/status/steady?from=2024-02-29T00%3A00&to=2024-03-01T00%3A00');
    expect(code).toBe(200);
    expect(body).toContain('<h2 id="range">2024-02-29</h2>');
    const year = (await get('/status/steady?from=2024-01-01&to=2025-01-01&grain=1d')).body;
    expect(year).toContain('Table of 366 intervals');
    expect(year).toMatch(/1 with downtime, 1 with unknown time, 3 with maintenance/);
  });

  it('is used for long ranges only: a few weeks are bars', async () => {
    const { body } = await get('/status/steady?range=90d');
    expect(body).toContain('class="states bars"');
    expect(body).not.toContain('class="states calendar"');
  });
});

describe('a node name', () => {
  /** The maximum length in the configuration. */
  const longestName = `a${'.b_-'.repeat(15)}cd`;

  it('of the configuration has a page and a badge, and a longer one is refused by the configuration', async () => {
    expect(longestName).toHaveLength(63);
    const loadSite = (name: string) => {
      const file = join(dir, 'names.yaml');
      const nodes = `{ nodes: [{ name: ${JSON.stringify(name)}, url: "http://127.0.0.1:1" }] }`;
      writeFileSync(file, `network: mainnet\nupstreams: ${nodes}\n`);
      return readStatusSite(loadConfig(file, catalogNames));
    };
    const site = loadSite(longestName);
    const other = await servePagesOf(database.url, { clock: () => now, site });
    const codes = [
      `/status/${longestName}`,
      `/status/${longestName}?range=1y`,
      `/badge/${longestName}.svg`,
    ].map(async (path) => (await sendRequest(other.address + path)).code);
    expect(await Promise.all(codes)).toEqual([200, 200, 200]);
    await other.close();
    expect(() => loadSite(`${longestName}e`)).toThrow(/name: must be letters, digits, dots/);
  });
});

it('the seal is shown once there is one, with the head that verify compares', async () => {
  expect((await get('/status')).body).toContain('The recorded data is not sealed yet');
  const signal = new AbortController().signal;
  const made = await sealUntil(
    { databaseUrl: database.url, clock: () => now, key: undefined, signal },
    now - hour,
  );
  if (!made || made === 'busy') throw new Error('nothing was sealed');
  const page = async () => (await get('/status')).body;
  await expect.poll(page).toContain(`<code>${made.head}</code>`);
  const [ledger] = await sql<{ head: string }[]>`
      select head from reporting.seals where dataset = 'node_health' order by seal desc limit 1`;
  expect(await page()).toContain(`<code>${ledger?.head}</code>`);
  expect(await page()).toContain(made.until.toISOString().slice(0, 19).replace('T', ' '));
  expect(await page()).not.toContain(', signed');
});

describe('the logo', () => {
  it('is on the pages, and cannot load or run anything when it is opened directly', async () => {
    for (const path of ['/status', '/status/steady'])
      expect((await get(path)).body).toContain('<img class="logo" src="/status.logo" alt/>');
    const { code, headers, body } = await get('/status.logo');
    expect({ code, body }).toEqual({ code: 200, body: svg });
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*sandbox/);
  });

  it('may be a PNG, and an SVG with a declaration before it', () => {
    expect(siteWith('logo', png).logo).toEqual({ type: 'image/png', ending: '.png', body: png });
    expect(siteWith('logo', `<?xml version="1.0"?>\n<!-- ours -->\n${svg}`).logo?.ending).toBe('.svg');
  });

  it.each([
    [
      'a script',
      svg.replace('<rect', '<script>alert(1)</script><rect'),
      /contains a script, an entity or a foreign object/,
    ],
    ['a handler', svg.replace('<rect', '<rect onload = "alert(1)"'), /contains a script/],
    ['a link that runs', svg.replace('<rect', '<a href="javascript:alert(1)"/><rect'), /contains a script/],
    ['a page inside', svg.replace('<rect', '<foreignObject/><rect'), /foreign object/],
    ['an HTML page', '<!doctype html><svg>', /neither an SVG nor a PNG/],
    ['nothing', '', /neither an SVG nor a PNG/],
    [
      'too many bytes',
      Buffer.concat([png, Buffer.alloc(256 * 1024)]),
      /larger than 256 kB: set a smaller file/,
    ],
  ])('is refused with a sentence if it has %s', (_, body, message) => {
    const loadLogo = () => siteWith('logo', body);
    expect(loadLogo).toThrow(UsageError);
    expect(loadLogo).toThrow(/server\.status\.logo: .*logo: /);
    expect(loadLogo).toThrow(message);
  });
});
