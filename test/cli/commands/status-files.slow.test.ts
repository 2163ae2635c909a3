import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, posix } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { foldersOf } from '../../../src/server/pages/status/files.ts';
import { writeSite } from '../../../src/server/write-site.ts';
import { day, hour, write } from '../../server/pages/node-states.ts';
import {
  chromiumPath,
  noChromium,
  openBrowser,
  openPage,
  overflows,
  seriousFindings,
} from '../../support/browser.ts';
import { startCommand } from '../../support/cli.ts';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';
const { it, database, sql } = withDatabase();
const dir = temporaryFolder('status-files');
let to: string;

beforeAll(async () => {
  writeFileSync(join(dir, 'logo.svg'), logo);
  writeFileSync(
    join(dir, 'recorder.yaml'),
    `network: mainnet
upstreams: { nodes: [{ name: ill, url: "http://127.0.0.1:1" }, { name: Ill, url: "http://127.0.0.1:2" }, { name: never, url: "http://127.0.0.1:3" }] }
server: { status: { title: Our nodes, text: "We run them.", logo: logo.svg } }
`,
  );
  const now = Math.floor(Date.now() / hour) * hour;
  await write(
    sql,
    [
      {
        observer: 'paris',
        node: 'ill',
        states: [
          [now - 400 * day, 'up'],
          [now - 2 * hour, 'down'],
        ],
        absences: [],
        check: { name: 'C<hain>', error: '<script>alert("peers")</script>' },
      },
      { observer: 'paris', node: 'Ill', states: [[now - 10 * day, 'up']], absences: [] },
    ],
    Date.now(),
  );
});
beforeEach(() => {
  to = mkdtempSync(join(dir, 'site-'));
});

const run = (...args: string[]) =>
  runCommand(['report', 'status', ...args], { DATABASE_URL: database.url }, dir);
/** Runs the command in its own process, to be killed or for its log. */
const start = (...args: string[]) =>
  startCommand(['report', 'status', ...args], { DATABASE_URL: database.url }, dir);
/** Returns all files below a folder by path, with their content. */
const filesOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(folder, path)).isFile())
      .sort()
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
/** Returns the links and the loaded files of a page. */
const linksOf = (html: string) =>
  [...html.matchAll(/\s(?:href|src|action)="([^"]*)"/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(#|data:)/.test(link));

describe('report status --out', () => {
  it('writes pages, badges, styles and the logo, whose links work in any folder', async () => {
    const { code, stdout, stderr } = await start('--out', join(to, 'new'), '--json').ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const files = filesOf(join(to, 'new'));
    const { files: count, open } = JSON.parse(stdout);
    expect({ count, open }).toEqual({
      count: Object.keys(files).length - 1,
      open: join(to, 'new/index.html'),
    });
    const folders = foldersOf(['ill', 'Ill', 'never']);
    expect(new Set([...folders.values()].map((path) => path.toLowerCase())).size).toBe(3);
    for (const folder of folders.values())
      for (const name of ['index', '1h', '24h', '7d', '30d', '1y', 'all'])
        expect(Object.keys(files)).toContain(`${folder}/${name}.html`);
    expect(files['logo.svg']).toBe(logo);
    const pages = Object.entries(files).filter(([path]) => path.endsWith('.html'));
    for (const [path, html] of pages) {
      expect(html).not.toMatch(/<script|<form/);
      const links = linksOf(html);
      expect(links.some((link) => link.endsWith('.css'))).toBe(true);
      expect(links.filter((link) => files[posix.join(dirname(path), link)] === undefined)).toEqual([]);
    }
    expect(files['index.html']).toContain('1 of 3 nodes is down');
    expect(files['index.html']).toContain('&lt;script>alert(&quot;peers&quot;)');
    expect(files['index.html']).not.toMatch(/ ago<\/time>/);
    expect(files[`${folders.get('ill')}/1y.html`]).toContain('class="states calendar"');
    expect(files[`${folders.get('ill')}/badge.svg`]).toContain('<title>ill: down</title>');
    expect(files[`${folders.get('never')}/badge.svg`]).toContain('<title>never: no record</title>');
    expect(files[`${folders.get('Ill')}/badge-24h.svg`]).toContain(', 24 h</title>');
  });

  it('replaces its own files, removes those of removed nodes, and keeps files of others', async () => {
    writeFileSync(join(to, 'robots.txt'), 'User-agent: *');
    expect((await run('--out', to)).code).toBe(0);
    const before = filesOf(to);
    const fewer = join(dir, 'fewer.yaml');
    writeFileSync(
      fewer,
      readFileSync(join(dir, 'recorder.yaml'), 'utf8').replace(/, \{ name: never.*?\}/, ''),
    );
    expect((await run('--out', to, '--config', fewer)).code).toBe(0);
    const after = filesOf(to);
    expect(Object.keys(after)).toEqual(
      Object.keys(before).filter((path) => !path.startsWith('nodes/never/')),
    );
    expect(existsSync(join(to, 'nodes/never'))).toBe(false);
    expect(after['robots.txt']).toBe('User-agent: *');
    expect(after['index.html']).toContain('1 of 2 nodes is down');
  });

  it('keeps the old site complete when it is killed, and the next run cleans up', async () => {
    expect((await run('--out', to)).code).toBe(0);
    const before = filesOf(to);
    const transaction = await sql.reserve();
    await transaction`begin`;
    await transaction`lock table recorder.health_latency in access exclusive mode`;
    const killed = start('--out', to);
    const making = () => readdirSync(to).filter((name) => name.startsWith('.making-'));
    await expect.poll(making, { timeout: 30_000 }).toHaveLength(1);
    killed.process.kill('SIGKILL');
    await killed.ended;
    await transaction`rollback`;
    transaction.release();
    expect(filesOf(to)).toEqual(before);
    const [unfinished = ''] = making();
    const old = new Date(Date.now() - 2 * hour);
    utimesSync(join(to, unfinished), old, old);
    expect((await run('--out', to)).code).toBe(0);
    expect(making()).toEqual([]);
  });

  it('keeps each file complete with its time when it is killed while renaming, and replaces the first page last', async () => {
    const moments = () =>
      Object.fromEntries(
        Object.entries(filesOf(to)).flatMap(([path, html]) =>
          path.endsWith('.html') && !path.startsWith('.making-')
            ? [[path, /Generated at <time[^>]* datetime="([^"]+)"/.exec(html)?.[1] ?? `none: ${html.length}`]]
            : [],
        ),
      );
    expect((await run('--out', to)).code).toBe(0);
    const before = moments();
    const old = before['index.html'] ?? '';
    expect(Object.values(before).filter((moment) => moment !== old)).toEqual([]);
    const killed = start('--out', to);
    const watcher = watch(join(to, foldersOf(['ill', 'Ill', 'never']).get('ill') ?? ''), () =>
      killed.process.kill('SIGKILL'),
    );
    await killed.ended;
    watcher.close();
    const after = moments();
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const renewed = Object.values(after).filter((moment) => moment !== old);
    expect(renewed.filter((moment) => !(Date.parse(moment) > Date.parse(old)))).toEqual([]);
    expect(after['index.html'] === old || renewed.length === Object.keys(after).length).toBe(true);
    expect((await run('--out', to)).code).toBe(0);
    const again = Object.values(moments());
    expect(new Set(again).size).toBe(1);
    expect(Date.parse(again[0] ?? '')).toBeGreaterThan(Date.parse(old));
  });

  it('refuses a file at the path of the folder', async () => {
    const { code, stdout, stderr } = await run('--out', 'recorder.yaml');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/--out recorder.yaml: .* is a file, where a folder has to be: name another place/);
  });

  it('replaces no file of another program', async () => {
    writeFileSync(join(to, 'index.html'), 'mine');
    const { code, stderr } = await run('--out', to);
    expect(code).toBe(2);
    expect(stderr).toMatch(/index\.html exists and was not written by this command: move it away/);
    expect(filesOf(to)).toEqual({ 'index.html': 'mine' });
  });
});

describe('a site', () => {
  const signal = new AbortController().signal;
  async function* only(...files: [string, string][]) {
    for (const [path, body] of files) yield { path, body };
  }

  it('is unchanged while the next one is written, and if that fails', async () => {
    await writeSite(to, only(['index.html', 'old'], ['a/b.html', 'old']), signal);
    const before = filesOf(to);
    const servedFiles = () =>
      Object.fromEntries(Object.entries(filesOf(to)).filter(([path]) => !path.startsWith('.making-')));
    async function* failingFiles() {
      yield { path: 'index.html', body: 'new' };
      yield { path: 'a/b.html', body: 'new' };
      expect(servedFiles()).toEqual(before);
      throw new Error('the database connection was lost');
    }
    await expect(writeSite(to, failingFiles(), signal)).rejects.toThrow('the database connection was lost');
    expect(filesOf(to)).toEqual(before);
  });

  it('is not written if its list points outside the folder', async () => {
    await mkdir(join(to, 'in'));
    writeFileSync(join(to, 'precious'), '');
    writeFileSync(join(to, 'in/.chain-recorder.json'), '{"files":["../precious"]}');
    await expect(writeSite(join(to, 'in'), only(['index.html', '']), signal)).rejects.toThrow(
      'cannot be read',
    );
    expect(existsSync(join(to, 'precious'))).toBe(true);
  });

  it('has a folder for each name, whatever the file system allows', () => {
    const names = [
      'a',
      'A',
      '..',
      '.',
      'a/b',
      'a~2fb',
      '50%?#"é ☃',
      'x'.repeat(300),
      `${'x'.repeat(300)}y`,
      'con.',
      'a\\b',
    ];
    const folders = [...foldersOf(names).values()];
    expect(new Set(folders.map((path) => path.toLowerCase())).size).toBe(names.length);
    for (const path of folders) expect(path).toMatch(/^nodes\/(?!\.)[A-Za-z0-9._~-]{1,200}(?<!\.)$/);
  });
});

describe.skipIf(!chromiumPath)(`in a browser${noChromium}`, () => {
  let server: Server;
  afterAll(() => server.close());

  it('is usable below any prefix, from a down node to the reason, on a phone, without serious findings of axe', async () => {
    expect((await run('--out', to)).code).toBe(0);
    const types: Record<string, string> = { html: 'text/html', css: 'text/css', svg: 'image/svg+xml' };
    server = createServer(({ url = '' }, response) => {
      const path = join(to, url.replace(/^\/some\/where\//, ''));
      response.setHeader('content-type', types[path.split('.').at(-1) ?? ''] ?? '');
      response.end(readFileSync(path));
    }).listen(0, '127.0.0.1');
    await expect.poll(() => server.listening).toBe(true);
    const address = server.address();
    const port = typeof address === 'object' ? (address satisfies AddressInfo | null)?.port : 0;
    const browser = await openBrowser();
    const { page, faults, close } = await openPage(
      browser,
      `http://127.0.0.1:${port}/some/where/index.html`,
      'phone',
    );
    expect(await seriousFindings(page)).toEqual([]);
    await page.click('h3 >> text=ill');
    await page.waitForURL(/nodes\/ill[^/]*\/index\.html$/);
    expect(await page.textContent('main')).toContain('<script>alert("peers")</script>');
    await page.click('.ranges >> text=year');
    await page.waitForURL(/1y\.html$/);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    await page.click('header .brand');
    await page.waitForURL(/where\/index\.html$/);
    expect(faults).toEqual([]);
    await close();
    await browser.close();
  });
});
