import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { pages } from '../../src/server/pages/pages.ts';
import { withDatabase } from '../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../support/page-server.ts';

const TOKEN = 'a-token-of-some-length';
/** Every page with the parameters that it requires. */
const places = pages.map(({ path }) => path).filter((path) => !path.includes(':'));
/** The same, with a query for each: this page runs none by itself. */
const reading = places.map((path) => (path === '/query' ? '/query?sql=select+1' : path));

const { it, database } = withDatabase();
let proxy: TcpProxy;
let servers: PageServer[];
let open: string;
let guarded: string;

beforeAll(async () => {
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
  const url = proxy.before(database.url);
  servers = [await servePagesOf(url), await servePagesOf(url, {}, TOKEN)];
  [open = '', guarded = ''] = servers.map(({ address }) => address);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await proxy.close();
});

const form = (address: string, fields: Record<string, string>) =>
  sendRequest(address, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });

describe('every page', () => {
  it.each(places)('%s has a title, one heading and a main element, and nothing inline', async (path) => {
    const { code, headers, body } = await sendRequest(open + path);
    expect(code).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';(?!.*unsafe)/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(body).toMatch(/^<!doctype html>\n<html lang="en".*<title>[^<]+<\/title>.*<main id="main"/s);
    expect(body.match(/<h1/g)).toHaveLength(1);
    expect(body).not.toMatch(
      / style=| on[a-z]+=|<script(?! type="module" src="\/assets\/)|https?:\/\/(?!www\.w3\.org)/,
    );
  });

  it.each(places)('%s refuses an unknown parameter, with the known ones', async (path) => {
    const { code, body } = await sendRequest(`${open}${path}?%3Cb%3Enothing%3C%2Fb%3E=1`);
    expect(code).toBe(400);
    expect(body).toMatch(/&lt;b>nothing&lt;\/b>: is not a known parameter: there are /);
    expect(body).not.toContain('<b>');
  });
});

it('reports no empty record as healthy', async () => {
  const { body } = await sendRequest(open);
  expect(body).toContain('<h1 class="verdict idle">Nothing is recorded yet</h1>');
  expect(body).not.toMatch(/as it should be|since now/);
});

describe('a missing page', () => {
  it('is HTML for people and JSON for programs', async () => {
    const page = await sendRequest(`${open}/no<thing>?x=%3Cscript%3E`);
    expect(page).toMatchObject({ code: 404, body: expect.stringContaining('There is no page at /no') });
    expect(page.body).not.toMatch(/<thing>|<script>/);
    const json = await sendRequest(`${open}/api/nothing`);
    expect(json).toMatchObject({ code: 404, body: '{"error":"There is no page at /api/nothing."}' });
  });

  it('is returned for malformed URLs, too', async () => {
    const { code, headers, body } = await sendRequest(`${open}/%zz<b>`);
    expect({ code, body }).toEqual({
      code: 400,
      body: expect.stringMatching(/<h1>Bad request .*not a valid url/s),
    });
    expect(body).not.toContain('<b>');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none';/),
    });
    const json = await sendRequest(`${open}/api/%zz`);
    expect(json).toMatchObject({ code: 400, body: expect.stringMatching(/^{"error":".*not a valid url/) });
  });
});

describe('the token', () => {
  it('is requested in a form, and by a status code for programs', async () => {
    const page = await sendRequest(`${guarded}/?a="><script>`);
    expect(page.code).toBe(401);
    expect(page.body).toContain('action="/login"');
    expect(page.body).not.toContain('<script>');
    const json = await sendRequest(`${guarded}/api/status`);
    expect(json).toMatchObject({ code: 401, body: expect.stringContaining('RECORDER_TOKEN') });
    expect(json.headers['www-authenticate']).toBe('Bearer realm="chain-recorder"');
    expect(await sendRequest(`${guarded}/metrics`)).toMatchObject({ code: 401 });
    expect(await sendRequest(`${guarded}/health`)).toMatchObject({ code: 200 });
    expect((await sendRequest(guarded, { headers: { authorization: `Bearer ${TOKEN}` } })).code).toBe(200);
  });

  it('opens a session by a cookie that scripts cannot read and other sites cannot send', async () => {
    const wrong = await form(`${guarded}/login`, { token: 'not-the-token', to: '/' });
    expect(wrong).toMatchObject({ code: 401, body: expect.stringContaining('The token is wrong') });
    expect(wrong.headers['set-cookie']).toBeUndefined();
    const right = await form(`${guarded}/login`, { token: TOKEN, to: '/?a=1' });
    expect(right).toMatchObject({ code: 303, headers: { location: '/?a=1' } });
    const cookie = String(right.headers['set-cookie']);
    expect(cookie).toMatch(/^session=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(TOKEN);
    const session = cookie.split(';')[0] ?? '';
    expect(await sendRequest(guarded, { headers: { cookie: session } })).toMatchObject({
      code: 200,
      body: expect.stringContaining('Sign out'),
    });
    expect(await sendRequest(guarded, { headers: { cookie: `${session}x` } })).toMatchObject({ code: 401 });
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/\r\nx: y'])(
    'never redirects to %j',
    async (to) => {
      const { headers } = await form(`${guarded}/login`, { token: TOKEN, to });
      expect(headers.location).toBe('/');
    },
  );
});

it('the selected colour scheme is kept', async () => {
  const chosen = await form(`${open}/theme`, { theme: 'dark', to: '/' });
  expect(chosen).toMatchObject({ code: 303, headers: { location: '/' } });
  const cookie = String(chosen.headers['set-cookie']).split(';')[0] ?? '';
  expect((await sendRequest(open, { headers: { cookie } })).body).toContain('data-theme="dark"');
  expect((await sendRequest(open, { headers: { cookie: 'theme="><b>' } })).body).toContain(
    'data-theme="auto"',
  );
});

describe('a form', () => {
  it('returns to the longest URL that the server accepts', async () => {
    // Some of the 16 KiB of a head are left for the other headers. A form encodes each bracket as three characters.
    const to = `/query?sql=${'('.repeat(15_000)}`;
    expect((await sendRequest(guarded + to)).body).toContain(`value="${to}"`);
    const signedIn = await form(`${guarded}/login`, { token: TOKEN, to });
    expect({ code: signedIn.code, location: signedIn.headers.location }).toEqual({ code: 303, location: to });
    const chosen = await form(`${open}/theme`, { theme: 'dark', to });
    expect({ code: chosen.code, location: chosen.headers.location }).toEqual({ code: 303, location: to });
  });

  it('with a longer URL is refused', async () => {
    expect((await form(`${open}/theme`, { theme: 'dark', to: '('.repeat(100_000) })).code).toBe(413);
  });
});

it('a page that waits for the database in vain reports it as unavailable or slow', async () => {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const fresh = await servePagesOf(database.url); // it caches no response
  try {
    await sql.begin(async (transaction) => {
      await transaction`lock table recorder.target_datasets in access exclusive mode`;
      expect(await sendRequest(`${fresh.address}/`)).toMatchObject({
        code: 503,
        body: expect.stringMatching(/no response within \d+ ms.*a query may also exceed this time limit/s),
      });
    });
  } finally {
    await fresh.close();
    await sql.end();
  }
});

it('every page stays readable while the database is unavailable, with what continues', async () => {
  proxy.weather = { kind: 'down' };
  proxy.reset();
  for (const path of reading)
    await expect
      .poll(() => sendRequest(open + path), { message: path })
      .toMatchObject({
        code: 503,
        headers: { 'retry-after': '10' },
        body: expect.stringMatching(/<h1>Database unavailable.*The recorder retries/s),
      });
  proxy.weather = { kind: 'fair' };
  for (const path of reading)
    await expect.poll(() => sendRequest(open + path), { timeout: 20_000 }).toMatchObject({ code: 200 });
});
