import type { Browser, Page } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chartLink } from '../../../src/server/pages/charts/link.ts';
import { recordedDatabase } from '../../reporting/relations/recorded-database.ts';
import {
  chromiumPath,
  noChromium,
  openBrowser,
  openPage,
  overflows,
  schemes,
  seriousFindings,
} from '../../support/browser.ts';
import type { TestDatabase } from '../../support/database.ts';
import { type PageServer, servePagesOf } from '../../support/page-server.ts';
import {
  addToDraw,
  addTooMany,
  busy,
  DENSE,
  dense,
  first,
  HOURS,
  holder,
  peak,
  precise,
} from './drawn-record.ts';
import { letRead, type RevisedPoint, revisePoint } from './revised-point.ts';

const hour = 3_600_000;

describe.skipIf(!chromiumPath)(`charts in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let server: PageServer;
  let browser: Browser;
  let revised: RevisedPoint;

  beforeAll(async () => {
    database = await recordedDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await letRead(sql);
    revised = await revisePoint(sql);
    await addToDraw(sql);
    await addTooMany(sql);
    await sql.end();
    server = await servePagesOf(database.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await database.close();
  });

  const window = { from: new Date(first), to: new Date(first + HOURS * hour) };
  const wholeWindowUrl = () => server.address + chartLink({ of: 'metric_points', selected: busy, ...window });
  /** The moments of the points that are drawn, ms since 1970. */
  const momentsIn = async (page: Page) => {
    const text = (await page.locator('[data-points]').first().getAttribute('data-points')) ?? '';
    return text.split(' ').map((one) => Number(one.split('=')[0]));
  };
  const windowIn = (page: Page) => {
    const { searchParams } = new URL(page.url());
    return ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? '')) as [number, number];
  };
  const plotBox = async (page: Page) => {
    const box = await page.locator('.plot .u-over').boundingBox();
    if (!box) throw new Error('there is no plot');
    return box;
  };
  /** Drags across the plot. @param from and @param to as shares of its width */
  const drag = async (page: Page, from: number, to: number) => {
    const { x, y, width, height } = await plotBox(page);
    const before = page.url();
    await page.mouse.move(x + from * width, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + to * width, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((address) => location.href !== address, before);
  };

  it('zoom into a dragged part; the URL, Back and a double click follow', async () => {
    const { page, faults, close } = await openPage(browser, wholeWindowUrl());
    const before = await momentsIn(page);
    expect(before.length).toBeLessThan(HOURS);
    await drag(page, 0.25, 0.5);
    const [from, to] = windowIn(page);
    expect(Math.abs(from - (first + 0.25 * HOURS * hour))).toBeLessThan(0.01 * HOURS * hour);
    expect(Math.abs(to - (first + 0.5 * HOURS * hour))).toBeLessThan(0.01 * HOURS * hour);
    const inside = (one: number) => one >= from && one < to;
    const after = await momentsIn(page);
    expect(after).toEqual(Array.from({ length: HOURS }, (_, at) => first + at * hour).filter(inside));
    expect(before.filter(inside).length).toBeLessThan(after.length);
    expect(await page.locator('#points').textContent()).toBe(
      `${(after.length / 1000).toFixed(3).replace('.', '\u202f')} points`,
    );

    const linked = await openPage(browser, page.url());
    expect(await momentsIn(linked.page)).toEqual(after);
    await linked.close();

    const part = page.url();
    await drag(page, 0.25, 0.5);
    await page.goBack();
    await page.waitForURL(part);
    await expect.poll(() => momentsIn(page)).toEqual(after);
    const { x, y, width, height } = await plotBox(page);
    await page.mouse.dblclick(x + width / 2, y + height / 2);
    await page.waitForURL(wholeWindowUrl());
    expect(await momentsIn(page)).toEqual(before);
    await drag(page, 0.4, 0.6);
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForURL(wholeWindowUrl());
    expect(faults).toEqual([]);
    await close();
  });

  /** A clock that advances a second at each reading: one piece is read for a page. */
  const serveWithShortTimeout = async () => {
    let now = Date.now();
    const clock = () => {
      now += 1_000;
      return now;
    };
    const hurried = await servePagesOf(database.url, { clock });
    const [from, to] = [new Date(first), new Date(first + DENSE * 1_000)];
    const link = chartLink({ of: 'metric_points', selected: dense, from, to });
    return { hurried, address: hurried.address + link };
  };

  it('draw what was too much for one page step by step, until the window is complete', async () => {
    const { hurried, address } = await serveWithShortTimeout();
    const { page, faults, close } = await openPage(browser, address);
    await expect
      .poll(() => page.locator('[data-unread]').textContent(), { timeout: 20_000 })
      .toContain('The whole window is drawn');
    const moments = await momentsIn(page);
    expect([moments[0], moments.at(-1)]).toEqual([first, first + (DENSE - 1) * 1_000]);
    expect(moments).toContain(peak.at);
    expect(moments).toEqual([...new Set(moments)].sort((one, other) => one - other));
    expect(faults).toEqual([]);
    await close();
    await hurried.close();
  });

  it('distinguish a part that was too much to read from a part without points', async () => {
    const { hurried, address } = await serveWithShortTimeout();
    const { page, close } = await openPage(browser, `${hurried.address}/charts`);
    let parts = 0;
    await page.route('**/charts?**', async (route) => {
      const to = Date.parse(new URL(route.request().url()).searchParams.get('to') ?? '');
      if (route.request().isNavigationRequest() || ++parts === 1) await route.continue();
      else await route.fulfill({ body: `<main><p data-unread="${to}">Even the newest part</p></main>` });
    });
    await page.goto(address);
    const note = page.locator('[data-unread]');
    await expect
      .poll(() => note.textContent(), { timeout: 20_000 })
      .toMatch(/^The chart starts at \S+ \S+\. Load the earlier points$/);
    expect(parts).toBe(2);
    expect(await note.locator('a').count()).toBe(1);
    await close();
    await hurried.close();
  });

  it('show a value with every digit under the pointer, also by keys', async () => {
    const [from, to] = [precise.at - 10 * hour, precise.at + 10 * hour].map((at) => new Date(at));
    const link = chartLink({ of: 'metric_points', selected: busy, from: from ?? null, to: to ?? null });
    const { page, faults, close } = await openPage(browser, server.address + link);
    const { x, y, width, height } = await plotBox(page);
    await page.mouse.move(x + width / 2, y + height / 2);
    const value = page.locator('.key b');
    const digits = '123\u202f456\u202f789\u202f012\u202f345\u202f678\u202f901.000000000000000001';
    await expect.poll(() => value.textContent()).toBe(digits);
    expect(await page.locator('.readout').textContent()).toContain(
      new Date(precise.at).toISOString().slice(0, 19).replace('T', ' '),
    );
    await page.locator('.plot').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => value.textContent()).toMatch(/^1\u202f\d{3}$/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => value.textContent()).toBe(digits);
    expect(faults).toEqual([]);
    await close();
  });

  it('show the values at any moment, and none in a gap', async () => {
    const [from, to] = [new Date('2026-01-05'), new Date('2026-02-05')];
    const { page, faults, close } = await openPage(
      browser,
      server.address + chartLink({ of: 'native_balances', selected: holder, from, to }),
    );
    const { x, y, width, height } = await plotBox(page);
    const at = async (share: number) => {
      await page.mouse.move(x + share * width, y + height / 2);
      return page.locator('.key b').textContent();
    };
    expect(await at(3 / 31)).toBe('1\u202f000\u202f000\u202f000\u202f000\u202f000\u202f000\u202f001');
    expect(await at(10 / 31)).toContain(
      '2\u202f000\u202f000\u202f000\u202f000\u202f000\u202f000\u202f002 since 2026-01-10',
    );
    expect(await at(20 / 31)).toBe('');
    expect(await at(29 / 31)).toContain('3\u202f000');
    expect(faults).toEqual([]);
    await close();
  });

  it.each(schemes)('mark revised points, and are accessible (%s)', async (colorScheme) => {
    const { chain_id, metric, time_interval, bucket_start, until } = revised;
    const link = chartLink({
      of: 'metric_points',
      selected: { chain_id, metric, time_interval },
      from: new Date(bucket_start.getTime() - 48 * hour),
      to: new Date(bucket_start.getTime() + 240 * hour),
      asOf: null,
      beside: until.toISOString(),
    });
    const { page, faults, close } = await openPage(browser, server.address + link, 'phone', { colorScheme });
    expect(await page.locator(`[data-marks="${bucket_start.getTime()}"]`).count()).toBe(2);
    expect(await page.locator('td mark').allTextContents()).toEqual([revised.is, revised.was]);
    expect(await page.getByRole('img', { name: /Metrics of chains/ }).count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  it('are drawn by the server, and controlled by forms and links, without JavaScript', async () => {
    const { page, faults, close } = await openPage(browser, wholeWindowUrl(), 'wide', {
      javaScriptEnabled: false,
    });
    expect(await page.locator('.plot').count()).toBe(0);
    expect(await page.locator('.chart > svg .line').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Zoom in' }).click();
    await page.waitForURL((url) => Date.parse(url.searchParams.get('from') ?? '') > first);
    await page.selectOption('#of', { label: 'Stake of the primary network' });
    await page.getByRole('button', { name: 'Choose' }).click();
    await page.waitForURL(/of=stake_daily/);
    await page.getByText('Values:').click();
    await page.getByRole('checkbox', { name: 'validators' }).check();
    await page.getByRole('button', { name: 'Draw' }).click();
    await page.waitForURL(/column=stake_avax&.*column=validators|column=validators&.*column=stake_avax/);
    expect(await page.locator('.chart > svg .line').count()).toBe(3);
    expect(faults).toEqual([]);
    await close();
  });

  it('of a query result can be explored without another query', async () => {
    const sql = `select bucket_start, value from metric_points where chain_id = 'busy' and value < 1e6 order by 1 limit 100`;
    const { page, faults, close } = await openPage(
      browser,
      `${server.address}/query?${new URLSearchParams({ sql, show: 'chart' })}`,
    );
    const { x, y, width, height } = await plotBox(page);
    await page.mouse.move(x + width / 2, y + height / 2);
    await expect.poll(() => page.locator('.key b').textContent()).toMatch(/^1\u202f\d{3}$/);
    expect(await seriousFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});
