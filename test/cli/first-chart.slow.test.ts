import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import { chromiumPath, noChromium, openBrowser, openPage, seriousFindings } from '../support/browser.ts';
import { type Running, startCommand } from '../support/cli.ts';

describe.skipIf(!chromiumPath)(`the first start of a new user${noChromium}`, () => {
  let dir: string;
  let recorder: Running;
  let browser: Browser;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'recorder-first-'));
    chmodSync(dir, 0o755); // as root the server runs as another user
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    recorder?.process.kill('SIGKILL'); // where the test failed
    const { path } = await embeddedHome(join(dir, '.recorder'), { info: () => {}, warn: () => {} });
    rmSync(path, { recursive: true, force: true });
    rmSync(dir, { recursive: true });
  });

  /** Returns the address of the pages, from the log of a recorder that starts. */
  const addressOf = ({ process: { stdout, stderr } }: Running) =>
    new Promise<string>((resolve) => {
      for (const stream of [stdout, stderr])
        createInterface({ input: stream }).on('line', (line) => {
          const [, address] = /"address":"(http:[^"]+)"/.exec(line) ?? [];
          if (address) resolve(address);
        });
    });

  /** Returns the number of points in the table of a page's chart. */
  const points = (page: Page) => page.locator('section[aria-labelledby=points] tbody tr').count();

  it('shows a chart after one click, without any configuration', async () => {
    recorder = startCommand(['up'], {}, dir);
    const address = await addressOf(recorder);
    const { page, faults, close } = await openPage(browser, address);
    await page.getByRole('link', { name: 'Charts', exact: true }).first().click();
    await page.waitForURL(/\/charts/);
    // The first points arrive within seconds; the page is reloaded until then.
    await expect
      .poll(async () => (await page.reload()) && (await points(page)), { timeout: 60_000, interval: 1_000 })
      .toBeGreaterThan(20);
    await page.locator('.uplot canvas').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
    recorder.process.kill('SIGTERM');
    expect(await recorder.ended).toMatchObject({ code: 0 });
  });
});
