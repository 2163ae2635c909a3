import type { Browser, Page } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedDatabase } from '../../reporting/relations/recorded-database.ts';
import {
  chromiumPath,
  noChromium,
  openBrowser,
  openPage,
  overflows,
  seriousFindings,
} from '../../support/browser.ts';
import type { TestDatabase } from '../../support/database.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { holed, makeHoles } from './coverage-hole.ts';
import { letRead, type RevisedPoint, revisePoint } from './revised-point.ts';

describe.skipIf(!chromiumPath)(`navigation in a browser${noChromium}`, () => {
  let database: TestDatabase;
  let server: PageServer;
  let browser: Browser;
  let revised: RevisedPoint;

  beforeAll(async () => {
    database = await recordedDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await letRead(sql);
    await makeHoles(sql, Date.UTC(2026, 2, 1));
    revised = await revisePoint(sql);
    await sql.end();
    server = await servePagesOf(database.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await database.close();
  });

  /** Follows links, and checks each page on the way. */
  async function walk(start: string, javaScriptEnabled: boolean, way: (page: Page) => AsyncGenerator<void>) {
    const { page, faults, close } = await openPage(browser, server.address + start, 'phone', {
      javaScriptEnabled,
    });
    for await (const _ of way(page)) {
      expect(await overflows(page), page.url()).toBe(false);
      if (javaScriptEnabled) expect(await seriousFindings(page), page.url()).toEqual([]);
    }
    expect(faults).toEqual([]);
    await close();
  }

  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first();
  const follow = async (page: Page, name: string, to: RegExp) => {
    await link(page, name).click();
    await page.waitForURL(to);
  };

  describe.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('%s', (_, script) => {
    it('from a finding to the gaps of its dataset', async () => {
      await walk('/', script, async function* (page) {
        await follow(page, 'missing data', /\/coverage/);
        expect(await page.getByRole('heading', { name: 'Gaps' }).count()).toBe(1);
        yield;
      });
    });

    it('from a gap to the command that fixes it', async () => {
      await walk('/datasets', script, async function* (page) {
        await follow(page, 'metric_points', /metric_points$/);
        yield;
        await follow(page, 'Coverage', /\/coverage$/);
        yield;
        await page.fill('#from', '2026-03-01');
        await page.fill('#to', '2026-03-11');
        await page.fill('#target', holed);
        await page.getByRole('button', { name: 'Show', exact: true }).click();
        await page.waitForURL(/from=2026-03-01/);
        yield;
        await page.getByText('Table of days').click();
        await follow(page, '2026-03-05', /from=2026-03-05/);
        const commands = await page.locator('code', { hasText: 'chain-recorder backfill' }).allTextContents();
        expect(commands).toHaveLength(1);
        expect(commands[0]).toContain('--from 2026-03-05T00:00:00Z --to 2026-03-06T00:00:00Z --target');
        yield;
      });
    });

    it('from a number to its revisions, and to both in one chart', async () => {
      const { chain_id, metric, time_interval, bucket_start } = revised;
      const point = new URLSearchParams({
        chain_id,
        metric,
        time_interval,
        bucket_start: bucket_start.toISOString(),
      });
      await walk(`/datasets/metric_points?${point}`, script, async function* (page) {
        yield;
        await follow(page, 'history', /\/row\?/);
        const values = await page.locator('tbody tr').allTextContents();
        expect(values).toHaveLength(2);
        expect(values[0]).toContain(revised.is);
        expect(values[1]).toContain(revised.was);
        yield;
        await follow(page, 'Chart of the first and the current values', /\/charts\?/);
        expect(await page.locator('.chart .line').count()).toBeGreaterThan(1);
        yield;
      });
    });

    it('from a page to its SQL, to its CSV', async () => {
      await walk('/datasets/node_validators?limit=5&columns=node,node_id', script, async function* (page) {
        const csv = await sendRequest(server.address + (await link(page, 'CSV').getAttribute('href')));
        expect(csv.body.startsWith('node,node_id\r\n')).toBe(true);
        await page.getByText('SQL of this page', { exact: true }).click();
        expect(await page.locator('pre[data-copy]').textContent()).toContain(
          'from reporting.node_validators',
        );
        yield;
        await follow(page, 'Open on the query page', /\/query\?sql=/);
        await expect.poll(() => page.locator('tbody tr').count()).toBe(5);
        yield;
        const pageCsv = await sendRequest(server.address + (await link(page, 'CSV').getAttribute('href')));
        expect(pageCsv.body.trim().split(/\r?\n/)).toEqual(csv.body.trim().split(/\r?\n/).slice(0, 6));
      });
    });

    it('from the present to a past moment, side by side', async () => {
      await walk('/datasets/metric_points', script, async function* (page) {
        await follow(page, 'Changes between two moments', /\/changes$/);
        yield;
        await page.fill('#from', revised.until.toISOString().slice(0, 23));
        await page.fill('#of-metric', revised.metric);
        await page.fill('#of-chain_id', revised.chain_id);
        await page.getByRole('button', { name: 'Compare' }).click();
        await page.waitForURL(/from=/);
        expect(await page.locator('tbody tr', { hasText: revised.metric }).count()).toBeGreaterThan(0);
        yield;
      });
    });
  });
});
