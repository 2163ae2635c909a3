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
  validations: [
    {
      ...{
        node: 'validator-with-a-long-name-1',
        node_id: 'NodeID-1',
        connected: true,
        seen_by: 'validator-with-a-long-name-2',
        observed_at: to,
      },
      ...{ start_time: from, end_time: to, threshold_percent: 80, uptime_percent: 99.0123 },
      downtime_left_minutes: 29_000,
    },
  ],
  stake: [],
};

/** Width of the text on A4 with the margins of the page, in CSS pixels: 182 mm. */
const PAPER_WIDTH = 688;

it.skipIf(!chromiumPath)(
  `the page of a service level with its seal fits a phone and paper${noChromium}`,
  async () => {
    const browser = await openBrowser();
    const page = await browser.newPage({ viewport: { width: widths.phone, height: 900 } });
    await page.setContent(slaPage(report));
    expect(await overflows(page)).toBe(false);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: PAPER_WIDTH, height: 900 });
    expect(await overflows(page)).toBe(false);
    await browser.close();
  },
);
