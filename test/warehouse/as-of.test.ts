import { afterAll, beforeAll, expect } from 'vitest';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { chainHeights } from '../../src/datasets/node/chain-heights.ts';
import { pBlocks } from '../../src/datasets/node/p-blocks.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { relationSql } from '../../src/reporting/views/declared-objects.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { asOfInDuck, type Duck, openDuck, rowsInDuck, rowsInPostgres, withAsOfColumns } from './lake.ts';

const { it, database, sql } = withDatabase({ max: 2, connection: { TimeZone: 'UTC' } });
let duck: Duck;
const folder = temporaryFolder('export-as-of');

beforeAll(async () => {
  duck = await openDuck();
});
afterAll(async () => {
  duck?.close();
});

const START = Date.UTC(2026, 10, 1, 20);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LARGE = '9007199254740993';

/**
 * The responses of the upstreams, an hour after the other: values that change and revert, members that leave and
 * return.
 */
const rounds = [
  { weights: { a: '1', b: '2' }, points: ['1', '2'], blockTime: 1 },
  { weights: { a: '1', b: LARGE, c: '3' }, points: ['1', '2.5'], blockTime: 1 },
  { weights: { b: LARGE, c: '3' }, points: ['7', '2.5'], blockTime: 2 },
  { weights: { b: '2', c: '3' }, points: ['7'], blockTime: 2 },
  { weights: { a: '1', b: '2', c: '4' }, points: ['1', '2.5'], blockTime: 1 },
  { weights: { a: '9', c: '4' }, points: ['1', LARGE], blockTime: 3 },
];

it('returns in DuckDB what was known at every moment, from files of several exports', async () => {
  const tables = warehouseTables.filter(({ name }) =>
    ['validators', 'metric_points', 'p_blocks', 'chain_heights'].includes(name),
  );
  const clock = new ManualClock(START);
  const context = recordingContext(sql, clock.read);
  const confirmShrink = { observations: 1, minDuration: 0 };
  const list = scriptedFeed(validators, { node: 'one', subnetId: 'primary' }, { confirmShrink });
  const metric = scriptedFeed(metricPoints, { chainId: '1', metric: 'txCount', timeInterval: 'day' });
  const blocks = scriptedFeed(pBlocks, { node: 'one' });
  const heights = scriptedFeed(chainHeights, { node: 'one' });
  const moments: Date[] = [];
  for (const [turn, { weights, points, blockTime }] of rounds.entries()) {
    const members = Object.entries(weights).map(([nodeID, weight]) => ({
      nodeID,
      weight,
      startTime: START / 1000,
    }));
    list.script = () => onlyPage({ validators: members });
    const results = points.map((value, at) => ({
      timestamp: (START - (START % DAY) - at * DAY) / 1000,
      value,
    }));
    const window = { from: START - 10 * DAY, to: START + DAY };
    metric.script = () => onlyPage({ results }, { proven: window });
    blocks.script = () =>
      onlyPage({
        blocks: [
          { height: 1, id: 'one', time: blockTime },
          { height: 2 + turn, id: 'x' },
        ],
      });
    heights.script = () => onlyPage({ height: String(100 + turn) });
    await run(context, list);
    await run(context, metric, window);
    await run(context, blocks);
    await run(context, heights);
    moments.push(new Date(clock.now + 1), new Date(clock.now + HOUR / 2));
    clock.now += HOUR;
    if (turn % 2 === 0) continue;
    const target = new DirectoryTarget(folder);
    const exported = await exportTables({
      databaseUrl: database.url,
      target,
      tables,
      format: 'parquet',
      incremental: true,
      signal: new AbortController().signal,
    });
    await target.close();
    expect(exported.manifest.export).toBe((turn + 1) / 2);
  }
  const differing = new Set<string>();
  for (const table of tables.map(withAsOfColumns))
    for (const at of moments) {
      const there = await rowsInPostgres(
        sql,
        table,
        `${relationSql(`${table.relation}_as_of`)}('${at.toISOString()}')`,
      );
      const here = await rowsInDuck(duck, asOfInDuck(folder, table, at), table);
      expect(here, `${table.name} at ${at.toISOString()}`).toEqual(there);
      differing.add(`${table.name} ${there.join()}`);
    }
  // The results differ between moments.
  for (const { name } of tables)
    expect([...differing].filter((one) => one.startsWith(`${name} `)).length, name).toBeGreaterThan(3);
});
