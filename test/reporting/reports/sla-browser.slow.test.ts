import { expect, it } from 'vitest';
import { slaPage } from '../../../src/reporting/reports/sla-page.ts';
import { chromiumPath, noChromium, openBrowser, overflows, widths } from '../../support/browser.ts';

const from = new Date('2026-11-01T00:00:00Z');
const to = new Date('2026-12-01T00:00:00Z');
const report = {
  month: '2026-11',
  from,
  to,
  complete: true,
  made_at: to,
  seal: { seal: 31, sealed_until: to, head: 'f0'.repeat(32) },
  target_percent: 99.9,
  nodes: [],
  validations: [],
  stake: [],
};

it.skipIf(!chromiumPath)(`the page of a service level with its seal fits a phone${noChromium}`, async () => {
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: widths.phone, height: 900 } });
  await page.setContent(slaPage(report));
  expect(await overflows(page)).toBe(false);
  await browser.close();
});
