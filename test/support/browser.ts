import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { onPath } from './on-path.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** Root needs --no-sandbox. The others prevent requests to other hosts than the page's server. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Path of Chromium on PATH, or undefined. */
export const chromiumPath = onPath(...NAMES);

/** Reason why tests in a browser are skipped, for their titles. */
export const noChromium = chromiumPath ? '' : ' (skipped: no chromium on PATH)';
if (!chromiumPath) console.warn('Skipping the tests in a browser: no chromium on PATH.');

/** The tested widths of pages. */
export const widths = { wide: 1280, phone: 390 } as const;
export type Width = keyof typeof widths;
export const schemes = ['light', 'dark'] as const;

/** Starts Chromium; close it. */
export function openBrowser(): Promise<Browser> {
  if (!chromiumPath) throw new Error('no chromium on PATH');
  return chromium.launch({ executablePath: chromiumPath, args: FLAGS });
}

/** Starts Chromium before the tests of the calling suite, and closes it after them. @returns {@link openPage} in it */
export function withBrowser() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  return (address: string, width?: Width, options?: BrowserContextOptions) =>
    openPage(browser, address, width, options);
}

/** A page that is open in a browser, and its errors. */
export interface OpenPage {
  readonly page: Page;
  /** Errors of the console and of scripts, failed requests, and requests to other hosts than the server. */
  readonly faults: string[];
  close(): Promise<void>;
}

/**
 * Opens an address and waits until it is loaded.
 * @param options such as `{ javaScriptEnabled: false }` or `{ colorScheme: 'dark' }`
 */
export async function openPage(
  browser: Browser,
  address: string,
  width: Width = 'wide',
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: widths[width], height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('requestfailed', (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== new URL(address).origin) faults.push(`requested ${origin}`);
  });
  await page.goto(address, { waitUntil: 'load' });
  return { page, faults, close: () => context.close() };
}

/** Returns the serious and critical findings of axe, one line each: the rule and the elements. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  );
  return Array.isArray(found) ? found.map(String) : [String(found)];
}

/** Returns whether the page is wider than the screen, so that it scrolls sideways. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1');
}
