import { openBrowser } from '../../test/support/browser.ts';
import { median } from '../median.ts';

/** A page in a browser, ms from the request: the first byte, the first paint, and when it was loaded. Medians. */
export interface Painted {
  readonly path: string;
  readonly firstByte: number;
  readonly firstPaint: number;
  readonly loaded: number;
}

const READ = `(() => {
  const [page] = performance.getEntriesByType('navigation');
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return [page.responseStart, paint ? paint.startTime : NaN, page.loadEventEnd];
})()`;

/** Opens each page in Chromium, as somebody who was never here. */
export async function paintAll(address: string, paths: readonly string[], times: number): Promise<Painted[]> {
  const browser = await openBrowser();
  try {
    const painted: Painted[] = [];
    for (const path of paths) {
      const seen: number[][] = [];
      for (let time = 0; time < times; time++) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
        const page = await context.newPage();
        await page.goto(address + path, { waitUntil: 'load' });
        await page.waitForFunction(`performance.getEntriesByName('first-contentful-paint').length > 0`);
        seen.push(numbersIn(await page.evaluate(READ)));
        await context.close();
      }
      const [firstByte, firstPaint, loaded] = [0, 1, 2].map((at) =>
        median(seen.map((one) => one[at] ?? Number.NaN)),
      );
      painted.push({ path, firstByte: firstByte ?? 0, firstPaint: firstPaint ?? 0, loaded: loaded ?? 0 });
    }
    return painted;
  } finally {
    await browser.close();
  }
}

const numbersIn = (told: unknown) => (Array.isArray(told) ? told.map(Number) : []);
