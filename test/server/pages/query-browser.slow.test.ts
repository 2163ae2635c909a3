import type { Browser, Page } from 'playwright-core';
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
} from '../../support/browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PageServer, servePagesOf } from '../../support/page-server.ts';

const overTime = `select timestamptz '2026-03-01Z' + n * interval '1 h' as at, n * 1.5 as value from generate_series(0, 9) n`;

describe.skipIf(!chromiumPath)(`/query in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let server: PageServer;
  let browser: Browser;

  beforeAll(async () => {
    database = await testDatabase();
    sql = postgres(database.url, { max: 1, onnotice: () => {} });
    server = await servePagesOf(database.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await sql.end();
    await database.close();
  });

  const open = (query = '', options = {}) =>
    openPage(browser, `${server.address}/query${query}`, 'wide', options);
  const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL' });
  const completions = (page: Page) => page.locator('.cm-tooltip-autocomplete li .cm-completionLabel');
  const table = (page: Page) => page.getByRole('group', { name: 'Result', exact: true }).locator('th, td');

  it('completes the views, then the columns of the view, with or without its name before them', async () => {
    const { page, faults, close } = await open();
    await page.waitForResponse(/names\.json/).catch(() => {});
    await editor(page).click();
    const type = (text: string) => page.keyboard.type(text, { delay: 15 });
    const options = () => completions(page).allTextContents();
    await type('select * from validators');
    await expect.poll(options).toEqual(expect.arrayContaining(['validators', 'node_validators_as_of']));
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await type(' v where v.');
    await expect.poll(options).toContain('delegation_fee');
    expect(await seriousFindings(page)).toEqual([]);
    // More than are shown at once: the keyboard reaches them all.
    expect(await options()).not.toContain('weight');
    await page.keyboard.press('ArrowUp');
    await expect.poll(options).toContain('weight');
    await page.keyboard.press('Escape');
    await type('weight > 1 order by wei');
    await completions(page).getByText('weight', { exact: true }).click();
    await page.keyboard.press('Control+Enter');
    await page.waitForURL(/sql=/);
    expect(await page.inputValue('textarea')).toBe(
      'select * from validators v where v.weight > 1 order by weight',
    );
    expect(await page.textContent('#answer')).toBe('0 rows');
    expect(await seriousFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  it('keeps typed text when the names arrive', async () => {
    const { page, close } = await open();
    let come = () => {};
    const names = new Promise<void>((resolve) => {
      come = resolve;
    });
    await page.route('**/names.json', (route) => names.then(() => route.continue()));
    await page.reload();
    await editor(page).click();
    await page.keyboard.type('select * from validators where ', { delay: 15 });
    come();
    await page.waitForResponse(/names\.json/);
    await expect
      .poll(async () => {
        await page.keyboard.press('Control+Space');
        return completions(page).allTextContents();
      })
      .toContain('accrued_delegatee_reward');
    await page.keyboard.press('Escape');
    await page.keyboard.type('true', { delay: 15 });
    expect(await editor(page).textContent()).toBe('select * from validators where true');
    await close();
  });

  it('shows the description of an option beside the list, and hides no option if there is no room', async () => {
    for (const width of ['wide', 'phone'] as const) {
      const { page, close } = await openPage(browser, `${server.address}/query`, width);
      await editor(page).click();
      await page.keyboard.type('select * from node_', { delay: 15 });
      const info = page.locator('.cm-completionInfo');
      await info.waitFor({ state: 'attached' });
      // Its position is computed after it is inserted.
      await expect.poll(() => info.isVisible(), { message: width }).toBe(width === 'wide');
      const option = completions(page).nth(2);
      const name = await option.textContent();
      expect(name).toMatch(/^node_\w+$/);
      await option.click();
      await expect.poll(() => editor(page).textContent()).toBe(`select * from ${name}`);
      await close();
    }
  });

  it('cancels a long statement by its button, and nothing of it remains in the database', async () => {
    const runningQueries = () => sql`
      select 1 from pg_stat_activity where datname = current_database() and application_name = 'chain-recorder query'
        and wait_event = 'PgSleep'`;
    const { page, close } = await open();
    await editor(page).fill('select pg_sleep(60)');
    // While a page loads only the mouse works: the button's position is read before.
    const cancel = page.locator('[data-cancel]');
    const show = (hidden: boolean) =>
      cancel.evaluate((button, is) => button.toggleAttribute('hidden', is), hidden);
    await show(false);
    const place = await cancel.boundingBox();
    await show(true);
    await page.getByRole('button', { name: 'Run' }).click({ noWaitAfter: true });
    await expect.poll(runningQueries).toHaveLength(1);
    await page.mouse.click((place?.x ?? 0) + 5, (place?.y ?? 0) + 5);
    await expect.poll(runningQueries).toHaveLength(0);
    expect(await page.textContent('[data-progress]')).toBe('Cancelled.');
    expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
    await editor(page).fill('select 42 as answer');
    await page.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => table(page).allTextContents()).toEqual(['answer', '42']);
    await close();
  });

  it.each([true, false])(
    'runs, draws, and links the same result (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const { page, faults, close } = await open('', { javaScriptEnabled });
      if (javaScriptEnabled) await editor(page).fill(overTime);
      else await page.fill('textarea', overTime);
      await page.getByRole('button', { name: 'Run' }).click();
      await page.waitForURL(/sql=/);
      const cells = await table(page).allTextContents();
      expect(cells).toHaveLength(2 + 20);
      await page.getByRole('link', { name: 'Chart', exact: true }).click();
      await page.waitForURL(/show=chart/);
      expect(await page.locator('path.line').count()).toBe(1);
      const link = await page.getByRole('link', { name: 'Link to this result' }).getAttribute('href');
      const again = await open(link?.replace('/query', ''), { javaScriptEnabled: false });
      expect(await table(again.page).allTextContents()).toEqual(cells);
      expect(await again.page.locator('path.line').count()).toBe(1);
      expect(await again.page.inputValue('textarea')).toBe(overTime);
      expect(await overflows(page)).toBe(false);
      expect([...faults, ...again.faults]).toEqual([]);
      await again.close();
      await close();
    },
  );

  it.each([true, false])(
    'shows the place of an error, and keeps the query for a fix (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const { page, close } = await open(
        `?${new URLSearchParams({ sql: 'select *\nfrom freshness\nwhere datase = 1' })}`,
        {
          javaScriptEnabled,
        },
      );
      const problem = page.locator('.problem');
      expect(await problem.locator('.what').textContent()).toBe('column "datase" does not exist');
      expect(await problem.locator('mark').textContent()).toBe('datase');
      expect(await problem.textContent()).toContain('Line 3, character 7');
      for (const colorScheme of javaScriptEnabled ? schemes : []) {
        await page.emulateMedia({ colorScheme });
        expect(await seriousFindings(page)).toEqual([]);
      }
      const fixed = 'select dataset from freshness';
      if (javaScriptEnabled) await editor(page).fill(fixed);
      else await page.fill('textarea', fixed);
      await page.getByRole('button', { name: 'Run' }).click();
      await expect.poll(() => page.textContent('#answer')).toBe('0 rows');
      await close();
    },
  );

  it('has saved queries that fill in their SQL and run it', async () => {
    const { page, close } = await open('', { javaScriptEnabled: false });
    const heading = page.locator('section[aria-labelledby="examples"] details').first();
    await heading.locator('summary').click();
    await heading.locator('a').first().click();
    await page.waitForURL(/sql=/);
    expect(await page.inputValue('textarea')).toMatch(/from\s+reporting\.|from /);
    await close();
  });
});
