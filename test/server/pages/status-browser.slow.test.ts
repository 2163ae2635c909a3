import type { Browser } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chromiumPath,
  noChromium,
  openBrowser,
  openPage,
  overflows,
  schemes,
  seriousFindings,
  type Width,
  widths,
} from '../../support/browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PageServer, servePagesOf } from '../../support/page-server.ts';
import { day, hour, write } from './node-states.ts';

const now = Date.UTC(2026, 4, 17, 9, 41);
const reason = 'not connected to a minimum of 1 peer(s) <b>';

describe.skipIf(!chromiumPath)(`the status page in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let server: PageServer;
  let browser: Browser;

  beforeAll(async () => {
    database = await testDatabase();
    sql = postgres(database.url, { onnotice: () => {} });
    const up = { observer: 'paris', absences: [] } as const;
    await write(
      sql,
      [
        { ...up, node: 'well', states: [[now - 200 * day, 'up']] },
        {
          ...up,
          node: 'ill',
          states: [
            [now - 200 * day, 'up'],
            [now - 40 * day, 'maintenance'],
            [now - 39 * day, 'unknown'],
            [now - 38 * day, 'up'],
            [now - 2 * hour, 'down'],
          ],
          check: { name: 'network', error: reason },
        },
      ],
      now,
    );
    server = await servePagesOf(database.url, {
      clock: () => now,
      site: {
        title: 'Our nodes',
        text: [],
        logo: null,
        nodes: ['well', 'ill'],
        announced: { once: [], recurring: [] },
      },
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await sql.end();
    await database.close();
  });

  it.each([true, false])(
    'links from a down node to the reason (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const { page, faults, close } = await openPage(browser, `${server.address}/status`, 'phone', {
        javaScriptEnabled,
      });
      expect(await page.textContent('.verdict')).toBe('1 of 2 nodes is down');
      const red = page.locator('article', { has: page.locator('.state.bad') });
      expect(await red.locator('.reason').textContent()).toBe(reason);
      await red.locator('h3 a').click();
      await page.waitForURL(/\/status\/ill$/);
      expect(await page.textContent('h1')).toBe('ill');
      await page.locator('.ranges a', { hasText: '24 hours' }).click();
      await page.waitForURL(/range=24h/);
      const incident = page.locator('.incidents li').first();
      expect(await incident.textContent()).toContain('ongoing');
      expect(await incident.locator('.words').textContent()).toBe(`network ${reason}`);
      await page.selectOption('#grain', '1h');
      await page.locator('form.filters button').click();
      await page.waitForURL(/grain=1h/);
      expect(await page.locator('.states.bars g').count()).toBe(25);
      expect(await page.textContent('[aria-labelledby="looks"]')).toContain(reason);
      expect(faults).toEqual([]);
      await close();
    },
  );

  const views = ['/status', '/status/ill', '/status/ill?range=1y'].flatMap((path) =>
    Object.keys(widths).flatMap((width) => schemes.map((colorScheme) => [path, width, colorScheme] as const)),
  );
  it.each(views)(
    '%s on %s, %s: has no error, fits, and has no serious findings of axe',
    async (path, width, colorScheme) => {
      const wide: Width = width === 'wide' ? 'wide' : 'phone';
      const { page, faults, close } = await openPage(browser, server.address + path, wide, { colorScheme });
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      for (const bars of await page.locator('.states.bars').all()) {
        const [own, around] = [await bars.boundingBox(), await bars.locator('..').boundingBox()];
        // The complete width, except the padding of a panel.
        expect((own?.width ?? 0) / (around?.width ?? 1)).toBeGreaterThan(0.85);
      }
      expect(faults).toEqual([]);
      await close();
    },
  );

  it('shows no state by colour alone: each except up has its own pattern', async () => {
    const { page, close } = await openPage(browser, `${server.address}/status/ill`);
    const fills = await page.evaluate(
      `['up', 'down', 'unknown', 'maintenance'].map((state) => document.querySelector('.bars .' + state).getAttribute('fill'))`,
    );
    expect(fills).toEqual([null, 'url(#state-down)', 'url(#state-unknown)', 'url(#state-maintenance)']);
    await close();
  });
});
