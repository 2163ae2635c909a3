import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  openBrowser,
  openPage,
  schemes,
  seriousFindings,
  type Width,
  widths,
} from '../../support/browser.ts';

/**
 * Takes screenshots of pages of a running server, and prints the problems of each: `npx tsx
 * test/server/pages/screenshots.ts http://127.0.0.1:8080 DIR /path /path?x=1`.
 */
const [address = '', folder = '', ...paths] = process.argv.slice(2);
if (paths.length === 0) throw new Error('requires an address, a folder for the screenshots, and paths');
await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const path of paths)
  for (const width of Object.keys(widths).filter((name): name is Width => name in widths))
    for (const colorScheme of schemes) {
      const { page, faults, close } = await openPage(browser, address + path, width, { colorScheme });
      const name = `${path.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'home'}-${width}-${colorScheme}`;
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
      const found = [...faults, ...(await seriousFindings(page))];
      process.stdout.write(`${name}: ${found.length === 0 ? 'no problem' : found.join('\n  ')}\n`);
      await close();
    }
await browser.close();
