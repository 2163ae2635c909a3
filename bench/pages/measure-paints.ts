import { openBrowser } from '../../test/support/browser.ts';
import { median } from '../median.ts';

/** A page in a browser, ms from the request: the first byte, the first paint, and the load event. Medians. */
export interface PagePaint {
  readonly path: string;
  readonly firstByte: number;
  readonly firstPaint: number;
  readonly loaded: number;
}

/** Waits for the paint, which may come after the load event. */
const READ = `new Promise((resolve) =>
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName('first-contentful-paint');
    const [page] = performance.getEntriesByType('navigation');
    if (paint) resolve([page.responseStart, paint.startTime, page.loadEventEnd]);
  }).observe({ type: 'paint', buffered: true }))`;

/** Opens each page in Chromium, like a new visitor. */
export async function measurePaints(
  address: string,
  paths: readonly string[],
  times: number,
): Promise<PagePaint[]> {
  const browser = await openBrowser();
  try {
    const paints: PagePaint[] = [];
    for (const path of paths) {
      const samples: number[][] = [];
      for (let time = 0; time < times; time++) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
        const page = await context.newPage();
        await page.goto(address + path, { waitUntil: 'load' });
        samples.push(numbersIn(await page.evaluate(READ)));
        await context.close();
      }
      const [firstByte, firstPaint, loaded] = [0, 1, 2].map((at) =>
        median(samples.map((one) => one[at] ?? Number.NaN)),
      );
      paints.push({ path, firstByte: firstByte ?? 0, firstPaint: firstPaint ?? 0, loaded: loaded ?? 0 });
    }
    return paints;
  } finally {
    await browser.close();
  }
}

const numbersIn = (value: unknown) => (Array.isArray(value) ? value.map(Number) : []);
