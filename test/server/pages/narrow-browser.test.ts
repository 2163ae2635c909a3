import { beforeAll, describe, expect } from 'vitest';
import { chromiumPath, noChromium, widths, withBrowser } from '../../support/browser.ts';
import { withPages } from '../../support/fixture.ts';
import { day, hour, write } from './watched.ts';

const now = Date.now();
const why = 'network layer is unhealthy reason: not connected to a minimum of 1 peer(s)';

const { it, sql, server } = withPages({ clock: () => now }, { max: 1 });

describe.skipIf(!chromiumPath)(`tables on a phone, in a browser${noChromium}`, () => {
  const openPage = withBrowser();

  beforeAll(async () => {
    await write(
      sql,
      [
        {
          observer: 'paris',
          node: 'validator-1',
          states: [
            [now - day, 'up'],
            [now - hour, 'down'],
          ],
          absences: [],
          check: { name: 'network', error: why },
        },
      ],
      now,
    );
  });

  it.each([
    ['/', 'Node status'],
    ['/status/validator-1', 'Probe results'],
    ['/status/validator-1', 'Checks of validator-1'],
  ])('%s: nothing of "%s" is hidden, and each cell has a label', async (path, caption) => {
    const { page, close } = await openPage(server.address + path, 'phone');
    const table = page.locator(`.scroll[aria-label="${caption}"]`);
    const reason = await table.getByText(why).boundingBox();
    expect(reason?.x).toBeGreaterThanOrEqual(0);
    expect((reason?.x ?? 0) + (reason?.width ?? Number.NaN)).toBeLessThanOrEqual(widths.phone);
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const named = table.locator('[data-name]').first();
    const name = await named.getAttribute('data-name');
    const shown = await named.evaluate((cell) => getComputedStyle(cell, '::before').content);
    expect(shown.startsWith(`"${name}`)).toBe(true);
    await close();
  });

  it('/datasets/validator_uptime: the key and the value of a row are visible', async () => {
    await sql`
      insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
      values ('validator-1', '11111111111111111111111111111111LpoYY', 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg', 99.2187,
        true, ${new Date(now)}, 1)`;
    const { page, close } = await openPage(`${server.address}/datasets/validator_uptime`, 'phone');
    const value = await page.locator('tbody').getByText('99.2187').boundingBox();
    expect(value?.x).toBeGreaterThanOrEqual(0);
    const table = await page.locator('.scroll').first().boundingBox();
    expect((value?.x ?? 0) + (value?.width ?? Number.NaN)).toBeLessThanOrEqual(
      (table?.x ?? 0) + (table?.width ?? 0),
    );
    await close();
  });
});
