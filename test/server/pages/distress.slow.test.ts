import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { PostgresServer } from '../../../chaos/servers/postgres-server.ts';
import { TcpProxy } from '../../../chaos/servers/proxy.ts';
import { ProcessRegistration } from '../../../src/recording/process-registration.ts';
import { Access } from '../../../src/server/access.ts';
import { chromiumPath, noChromium, openBrowser, openPage, seriousFindings } from '../../support/browser.ts';
import { startCommand } from '../../support/cli.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { rowsOf, textOf } from './html.ts';

const { it, database, sql } = withDatabase({ max: 4 });
let server: PageServer;
const dir = temporaryFolder('distress');

beforeAll(async () => {
  server = await servePagesOf(database.url, {
    recorder: { name: 'alpha', network: 'mainnet', simulated: false, directory: null },
  });
  writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
});
afterAll(async () => {
  await server.close();
});

const text = async (path: string) => textOf((await sendRequest(server.address + path)).body);
const outputOf = async (...command: string[]) =>
  (await startCommand(command, { DATABASE_URL: database.url }, dir).ended).stdout;

describe('several recorders', () => {
  const join = (recorder: string, network: string, digest: string, process: string, roles: string[]) =>
    ProcessRegistration.join(sql, { recorder, network, digest }, process, roles);
  const all = ['scheduler', 'worker', 'server'];

  it('are distinguished, and one with an older configuration is reported with the fix on every page', async () => {
    const old = await join('alpha', 'mainnet', 'A', 'one/1/old', all);
    expect(await text('/')).not.toMatch(/recorders? writes? to/);
    await join('alpha', 'mainnet', 'B', 'one/2/new', all);
    await join('beta', 'fuji', 'C', 'two/3/other', all);
    await old.beat();
    expect(await text('/')).toMatch(
      /2 recorders write to this database: alpha \(mainnet, 2 processes\), beta \(fuji, 1 process\)\..* served by alpha/,
    );
    const states = async () => {
      const [, processes = ''] = (await sendRequest(`${server.address}/queues`)).body.split('id="processes"');
      return rowsOf(processes).map(([process, state, recorder]) => [process, state, recorder]);
    };
    expect(await states()).toEqual([
      ['one/1/old', 'outdated', 'alpha'],
      ['one/2/new', 'running', 'alpha'],
      ['two/3/other', 'running', 'beta'],
    ]);
    // Usual for a moment: processes are replaced one after the other.
    await expect.poll(() => text('/')).not.toContain('one/1/old');
    await sql`
      update recorder.processes set started_at = started_at - interval '2 minutes', seen_at = now() + interval '10 minutes'`;
    await sql`update recorder.configurations set first_seen_at = first_seen_at - interval '2 minutes'`;
    await expect
      .poll(() => text('/'))
      .toMatch(/outdatedprocessone\/1\/old.*newer recorder\.yaml.*\(name:\) for onequeues/s);
    const finding = /outdated since .*: process one\/1\/old: the recorder "alpha" has a newer configuration/;
    expect(await outputOf('status')).toMatch(finding);
    expect(await outputOf('doctor', '--json')).toMatch(
      /process one\/1\/old: the recorder .{0,2}alpha.{0,2} has a newer configuration/,
    );
    expect((await sendRequest(`${server.address}/metrics`)).body).toContain(
      'chain_recorder_findings{state="outdated",component="process"} 1',
    );
    await old.leave();
    await expect.poll(() => text('/')).not.toContain('one/1/old');
  });

  it('report their queues; a node without a recent observation is not shown as up', async () => {
    await sql`
      insert into recorder.queues (recorder, queue, waiting, active, error, error_since, seen_at)
      values ('beta', 'heals', 20, 0, 'it is paused', now() - interval '2 h', now()),
        ('beta', 'polls', 3, 1, null, null, now() - interval '2 minutes'), ('alpha', 'polls', 7, 1, null, null, now())`;
    await sql`
      insert into recorder.schedules (schedule, recorder, every_ms, next_at, seen_at)
      values ('plan one', 'alpha', 60000, now(), now()), ('plan two', 'alpha', 60000, now(), now() - interval '2 minutes')`;
    const { body } = await sendRequest(`${server.address}/queues`);
    const [, others = ''] = body.split('id="others"');
    expect(
      rowsOf(others).map(([recorder, queue, , waits, state]) => [recorder, queue, waits, state]),
    ).toEqual([
      ['beta', 'polls', '3', 'not checked recently'],
      ['beta', 'heals', '20', 'stalled since 2 h ago: it is paused'],
    ]);
    const [, schedules = ''] = body.split('id="schedules"');
    expect(rowsOf(schedules).map(([schedule, state]) => [schedule, state])).toEqual([
      ['plan one', 'set'],
      ['plan two', 'not checked recently'],
    ]);
    await expect.poll(() => text('/')).toMatch(/queueheals of beta.*it is paused/s);
    await sql`truncate recorder.queues, recorder.schedules`;
  });

  it('whose processes all ended are reported, while another one still runs', async () => {
    await sql`update recorder.processes set seen_at = now() - interval '2 minutes' where process in ('one/1/old', 'one/2/new')`;
    await join('alpha', 'mainnet', 'B', 'one/4/pages', ['server']);
    await expect
      .poll(() => text('/'))
      .toMatch(/stalledworkersthe workers of the recorder alpha.*no process with the role worker runs/s);
    expect(await outputOf('status')).toMatch(
      /the workers of the recorder alpha: no process with the role worker/,
    );
    expect(await text('/queues')).toContain('lost');
    await join('alpha', 'mainnet', 'B', 'one/5/again', ['worker']);
    await expect.poll(() => text('/')).not.toContain('the workers of the recorder');
  });
});

describe('while PostgreSQL is killed', () => {
  it('each page returns 503 and recovers by itself, and the public page hides the address of the database', async () => {
    const home = mkdtempSync(join(tmpdir(), 'recorder-killed-'));
    chmodSync(home, 0o755); // as root the server runs as another user
    const killed = await PostgresServer.start(home);
    const url = await killed.clone('killed');
    const [own, open] = [
      await servePagesOf(url),
      await servePagesOf(url, {
        access: new Access({
          host: '0.0.0.0',
          token: 'a-token-of-some-length',
          trustedProxies: [],
          public: ['status'],
        }),
      }),
    ];
    const places = [
      '/',
      '/datasets',
      '/datasets/node_validators',
      '/runs',
      '/queues',
      '/status',
      '/query?sql=select+1',
    ];
    for (const path of places)
      expect(await sendRequest(own.address + path), path).toMatchObject({ code: 200 });
    await killed.crash();
    for (const path of places)
      await expect
        .poll(() => sendRequest(own.address + path), { message: path })
        .toMatchObject({
          code: 503,
          headers: { 'retry-after': '10' },
          body: expect.stringMatching(
            /aria-label="Main".*<h1>Database unavailable.*The database does not respond\..*ECONNREFUSED/s,
          ),
        });
    await expect.poll(() => sendRequest(`${open.address}/status`)).toMatchObject({ code: 503 });
    expect((await sendRequest(`${open.address}/status`)).body).not.toMatch(/ECONN|127\.0\.0\.1/);
    expect((await sendRequest(`${open.address}/badge/n.svg`)).body).not.toMatch(/ECONN|127\.0\.0\.1/);
    await killed.start();
    for (const path of places)
      await expect
        .poll(() => sendRequest(own.address + path), { timeout: 20_000, message: path })
        .toMatchObject({ code: 200 });
    await own.close();
    await open.close();
    await killed.stop();
    rmSync(home, { recursive: true });
  });
});

describe.skipIf(!chromiumPath)(`in a browser${noChromium}, while the database is unavailable`, () => {
  let proxy: TcpProxy;
  let browser: Browser;
  let unavailable: PageServer;
  beforeAll(async () => {
    proxy = await TcpProxy.open(Number(new URL(database.url).port));
    unavailable = await servePagesOf(proxy.before(database.url));
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await unavailable.close();
    await proxy.close();
  });
  beforeEach(() => {
    proxy.weather = { kind: 'fair' };
  });
  const down = () => {
    proxy.weather = { kind: 'down' };
    proxy.reset();
  };
  /** The page with a clock that the test moves. */
  async function openWithClock(path: string) {
    const { page, close } = await openPage(browser, unavailable.address + path);
    await page.clock.install();
    await page.reload();
    return { page, close };
  }

  it('a page keeps its content with its time, and refreshes again', async () => {
    const { page, close } = await openWithClock('/status');
    const heading = await page.textContent('h1');
    const staleNotice = () => page.textContent('[data-stale]');
    down();
    const later = async () => {
      await page.clock.runFor(31_000);
      return staleNotice();
    };
    await expect
      .poll(later, { timeout: 15_000 })
      .toMatch(
        /^The database does not respond\. This page shows the state at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\./,
      );
    expect(await page.textContent('h1')).toBe(heading);
    expect(await seriousFindings(page)).toEqual([]);
    proxy.weather = { kind: 'fair' };
    await expect.poll(later, { timeout: 15_000 }).toBe('');
    await close();
  });

  it('a page that was opened meanwhile loads as soon as it can', async () => {
    down();
    const { page, close } = await openWithClock('/datasets');
    expect(await page.textContent('h1')).toMatch(/^Database unavailable/);
    expect(await seriousFindings(page)).toEqual([]);
    proxy.weather = { kind: 'fair' };
    const heading = async () => {
      await page.clock.runFor(11_000);
      return page.textContent('h1');
    };
    await expect.poll(heading, { timeout: 15_000 }).toBe('Data');
    await close();
  });

  it('a stopped recorder is reported, too', async () => {
    const stopped = await servePagesOf(database.url);
    const { page, close } = await openPage(browser, `${stopped.address}/queues`);
    await page.clock.install();
    await page.reload();
    await stopped.close();
    await expect
      .poll(async () => {
        await page.clock.runFor(6_000);
        return page.textContent('[data-stale]');
      })
      .toMatch(/^The recorder does not respond\./);
    await close();
  });

  it('a recorder that accepts requests and never responds is reported, too', async () => {
    const hanging = await servePagesOf(database.url);
    const before = await TcpProxy.open(Number(new URL(hanging.address).port));
    const { page, close } = await openPage(browser, before.before(`${hanging.address}/queues`));
    const staleNotice = () => page.textContent('[data-stale]');
    before.weather = { kind: 'black-hole' };
    // The page polls every 5 s; the server itself would report after 8 s that the database is late.
    await expect
      .poll(staleNotice, { timeout: 30_000 })
      .toMatch(/^The recorder does not respond\. This page shows the state at/);
    before.weather = { kind: 'fair' };
    await expect.poll(staleNotice, { timeout: 30_000 }).toBe('');
    await close();
    await before.close();
    await hanging.close();
  });
});
