import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { navigation } from '../../../src/server/pages/navigation.ts';
import { pages } from '../../../src/server/pages/pages.ts';
import {
  chromiumPath,
  noChromium,
  openBrowser,
  openPage,
  overflows,
  seriousFindings,
  widths,
} from '../../support/browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PageServer, servePagesOf } from '../../support/page-server.ts';

/** Relations about the recording: only the common page of rows shows them. */
const views = ['alerts', 'findings', 'quarantine', 'incident_notes', 'node_incidents', 'gaps'];
const places = [
  ...pages.map(({ path }) => path).filter((path) => !path.includes(':')),
  ...views.map((view) => `/datasets/${view}`),
];

describe.skipIf(!chromiumPath)(`in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let server: PageServer;
  let browser: Browser;

  beforeAll(async () => {
    database = await testDatabase();
    server = await servePagesOf(database.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await database.close();
  });

  it.each(places)(
    '%s has no error, requests no other host, fits a phone, and has no serious findings of axe',
    async (path) => {
      const { page, faults, close } = await openPage(browser, server.address + path, 'phone');
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      expect(faults).toEqual([]);
      await close();
    },
  );

  it.each(navigation)('$href on a phone: the navigation shows the current page', async ({ href, label }) => {
    const { page, close } = await openPage(browser, server.address + href, 'phone');
    const here = page.locator('.top nav [aria-current]');
    expect(await here.textContent()).toBe(label);
    const box = await here.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(widths.phone);
    await close();
  });

  it('has a header of one line on a wide screen, with all main pages visible', async () => {
    const { page, close } = await openPage(browser, server.address, 'wide');
    const nav = page.locator('.top nav');
    const [list, colours] = [await nav.boundingBox(), await page.locator('.top .theme').boundingBox()];
    expect(colours?.y).toBeLessThan((list?.y ?? 0) + (list?.height ?? 0));
    expect(colours?.x).toBeGreaterThan((list?.x ?? 0) + (list?.width ?? 0));
    const hidden = await nav
      .locator('ul')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(hidden).toBe(0);
    await close();
  });

  it('is black on white on paper, whatever the screen is, and requests nothing there', async () => {
    const { page, close } = await openPage(browser, `${server.address}/runs`, 'wide', {
      colorScheme: 'dark',
    });
    await page.click('.theme button[value="dark"]');
    await page.waitForSelector('html[data-theme="dark"]');
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(28, 33, 38)');
    expect(await page.locator('form:visible, nav:visible').count()).toBe(0);
    await close();
  });

  it('has its marks also in forced colours', async () => {
    const { page, close } = await openPage(browser, server.address, 'wide', { forcedColors: 'active' });
    const mark = `getComputedStyle(document.querySelector('.verdict'), '::before').backgroundColor`;
    expect(await page.evaluate(mark)).not.toBe(
      await page.evaluate('getComputedStyle(document.body).backgroundColor'),
    );
    await close();
  });

  it('is usable without JavaScript: a filter, the colours, the keyboard', async () => {
    const { page, faults, close } = await openPage(browser, `${server.address}/runs`, 'wide', {
      javaScriptEnabled: false,
    });
    await page.selectOption('#status', 'failed');
    await page.click('.filters button');
    await page.waitForURL(/status=failed/);
    await page.click('.theme button[value="dark"]');
    await page.waitForSelector('html[data-theme="dark"]');
    expect(page.url()).toMatch(/status=failed/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#main$/);
    expect(faults).toEqual([]);
    await close();
  });
});
