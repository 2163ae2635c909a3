import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { stringify } from 'yaml';
import { startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { UpstreamServer } from '../support/upstream-server.ts';
import { nodeServer } from './identity/node-server.ts';

const HEIGHTS = 40_000;
const KILLS = 4;

const { it, database, sql } = withDatabase();
const dir = temporaryFolder('heights');
/** A node whose blocks are faster to serve than those of the sandbox. */
let node: UpstreamServer;
beforeAll(async () => {
  node = await nodeServer(() => ({ id: 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU', head: 1.02 * HEIGHTS }));
  const nodes = [{ name: 'one', url: node.url }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'mainnet', upstreams: { nodes } }));
});
afterAll(() => node.close());

const backfill = () =>
  startCommand(
    ['backfill', 'p_blocks', '--from-height', '0', '--to-height', String(HEIGHTS), '--json'],
    { DATABASE_URL: database.url, LOG_LEVEL: 'warn' },
    dir,
  );
const countRecorded = async () =>
  Number(
    (await sql`select sum(rows_written) as rows from recorder.target_datasets where dataset = 'p_blocks'`)[0]
      ?.rows ?? 0,
  );

it('records all blocks from height 0 across kills: no height twice, coverage equal', async () => {
  for (let kill = 1; kill <= KILLS; kill++) {
    const { process: killed, ended } = backfill();
    const target = Math.floor((HEIGHTS * kill) / (KILLS + 1));
    while ((await countRecorded()) < target && killed.exitCode === null) await delay(100);
    killed.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
  }
  const { code, stderr } = await backfill().ended;
  expect(code, stderr).toBe(0);
  const [summary] = await sql`
    select count(*)::int as rows, count(distinct height)::int as heights, min(height)::int as first, max(height)::int as last
    from reporting.node_p_blocks`;
  expect(summary).toEqual({ rows: HEIGHTS, heights: HEIGHTS, first: 0, last: HEIGHTS - 1 });
  const covered = await sql`select covered::text from recorder.coverage where dataset = 'p_blocks'`;
  expect([...covered]).toEqual([{ covered: `{[0,${HEIGHTS})}` }]);
}, 600_000);
