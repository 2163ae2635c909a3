import { beforeAll, describe, expect } from 'vitest';
import { chromiumPath, noChromium, widths, withBrowser } from '../../support/browser.ts';
import { withPages } from '../../support/fixture.ts';
import { day, hour, write } from './node-states.ts';

const now = Date.now();
const why = 'network layer is unhealthy reason: not connected to a minimum of 1 peer(s)';

const { it, sql, server } = withPages({ clock: () => now }, { max: 1 });

const PRIMARY_NETWORK = '11111111111111111111111111111111LpoYY';
const OWN = 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg';
const WATCHED = 'NodeID-MFrZFVCXPv5iCn6M9K6XduxGTYp891xXZ';

describe.skipIf(!chromiumPath)(`a table of many columns, in a browser${noChromium}`, () => {
  const openPage = withBrowser();

  it('/validators: all columns fit a wide screen', async () => {
    const at = (ms: number) => new Date(now + ms);
    await sql`
      insert into recorder.targets (source, target_key, target, recorder)
      values ('proposed-blocks', 'watched', ${sql.json({ nodeId: WATCHED })}, 'recorder')`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('proposed-blocks', 'watched', 'proposed_blocks', 60000, true, now())`;
    await sql`
      insert into recorder.node_identity (node, node_id, version, valid_from, run_id)
      values ('validator-1', ${OWN}, 'avalanchego/1.14.1', ${at(-day)}, 1)`;
    for (const nodeId of [OWN, WATCHED]) {
      await sql`
        insert into recorder.validators (node, subnet_id, node_id, start_time, tx_id, end_time, weight, stake_navax, delegator_count,
          delegator_weight, potential_reward, accrued_delegatee_reward, valid_from, run_id)
        values ('validator-1', ${PRIMARY_NETWORK}, ${nodeId}, ${at(-90 * day)}, 'tx', ${at(200 * day)}, 1, 1511811e9, 112, 1148514e9,
          78412e9, 500000000, ${at(-day)}, 1)`;
      await sql`
        insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, observed_at, run_id)
        values ('validator-1', ${PRIMARY_NETWORK}, ${nodeId}, 98.7812, true, ${at(-hour)}, 1)`;
    }
    await sql`
      insert into recorder.peers (node, node_id, version, valid_from, run_id)
      values ('validator-1', ${WATCHED}, 'avalanchego/1.14.2', ${at(-day)}, 1)`;
    const { page, close } = await openPage(`${server.address}/validators`, 'wide');
    const table = page.locator('.scroll[aria-label="My validators"]');
    expect(await table.locator('tbody tr').count()).toBe(2);
    expect(await table.getByText('below 1.14.2').count()).toBe(1);
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await close();
  });
});

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
    const content = await named.evaluate((cell) => getComputedStyle(cell, '::before').content);
    expect(content.startsWith(`"${name}`)).toBe(true);
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
