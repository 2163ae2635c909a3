import type { Browser } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, noChromium, openBrowser, openPage } from '../../support/browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PageServer, servePagesOf } from '../../support/page-server.ts';
import { day, hour, write } from './node-states.ts';

const node = `validator-${'in-the-north-'.repeat(4)}1`;

describe.skipIf(!chromiumPath)(`a page that refreshes itself, in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let server: PageServer;
  let browser: Browser;
  let now = Date.now();

  beforeAll(async () => {
    database = await testDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await write(
      sql,
      [
        {
          observer: 'paris',
          node,
          states: [
            [now - day, 'up'],
            [now - 3 * hour, 'down'],
            [now - 2 * hour, 'up'],
          ],
          absences: [],
          check: { name: 'network', error: 'no peers' },
        },
      ],
      now,
    );
    await sql.end();
    server = await servePagesOf(database.url, { clock: () => now });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await database.close();
  });

  /** A page on a phone, and a function that advances the time until it has refreshed. */
  async function openOnPhone(path: string) {
    const { page, close } = await openPage(browser, server.address + path, 'phone');
    await page.clock.install();
    await page.reload();
    const waitForRefresh = async () => {
      now += 1_000;
      const answered = page.waitForResponse(server.address + path);
      await page.clock.runFor(1_000 * Number(await page.getAttribute('main', 'data-live')));
      await answered;
      await expect
        .poll(() => page.getAttribute('main', 'data-at'))
        .toBe(new Date(now).toISOString().slice(0, 19).replace('T', ' '));
    };
    return { page, renewed: waitForRefresh, close };
  }

  it('keeps opened details open', async () => {
    const { page, renewed, close } = await openOnPhone('/status');
    await page.locator('article summary').click();
    await page.locator('h1').click(); // The focused element is not refreshed.
    await renewed();
    expect(await page.locator('article details').getAttribute('open')).not.toBeNull();
    await close();
  });

  it('continues after a click outside of controls, and keeps the focus there', async () => {
    const { page, renewed, close } = await openOnPhone('/');
    const focusedElement = () =>
      page.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
    await page.locator('h1').click();
    await renewed();
    expect(await focusedElement()).toBe('main');
    await page.locator('.scroll', { hasText: node }).click();
    await renewed();
    expect(await focusedElement()).toBe('Node status');
    await close();
  });

  it('keeps the scroll position of a table', async () => {
    const { page, renewed, close } = await openOnPhone('/');
    await page.setViewportSize({ width: 1000, height: 900 }); // On a phone its rows are stacked.
    const table = page.locator('.scroll', { hasText: node });
    await table.evaluate((element) => element.scrollTo(40, 0));
    await renewed();
    expect(await table.evaluate((element) => element.scrollLeft)).toBe(40);
    await close();
  });
});
