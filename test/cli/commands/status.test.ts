import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from 'vitest';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { it, database, sql } = withDatabase({ max: 2 });
const dir = temporaryFolder('status');
beforeAll(async () => {
  writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
  await sql`insert into recorder.targets (source, target_key, target) values ('subnets', 'network=mainnet', '{}')`;
});
beforeEach(async () => {
  await sql`truncate recorder.target_datasets, recorder.schedules, recorder.node_bindings`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, last_success_at)
    values ('subnets', 'network=mainnet', 'subnets', 3600000, true, now() - interval '1 year', now())`;
});

const status = (...args: string[]) => runCommand(['status', ...args], { DATABASE_URL: database.url }, dir);

it('exits 0 if the recorder is healthy', async () => {
  const { code, stdout } = await status();
  expect(code).toBe(0);
  expect(stdout).toContain('targets late: 0, failing: 0, incomplete: 0; stalled: 0');
});

it.each([
  [
    'late',
    /^late since .*: subnets of network=mainnet: no run has succeeded$/m,
    () => sql`update recorder.target_datasets set last_success_at = now() - interval '4 hours'`,
  ],
  [
    'failing',
    /^failing since .*: subnets of network=mainnet: HTTP 503$/m,
    () =>
      sql`update recorder.target_datasets set failures = 1, last_failure_at = now(), last_error = 'HTTP 503'`,
  ],
  [
    'failing',
    /^failing since .*: subnets of network=mainnet: \\u009b31m HTTP 503 \\u202e\\u000d$/m,
    () =>
      sql`update recorder.target_datasets set failures = 1, last_failure_at = now(), last_error = ${'\u009b31m HTTP 503 \u202e\r'}`,
  ],
  [
    'incomplete',
    /^incomplete since .*: subnets of network=mainnet: 1 of 7 items could not be read$/m,
    () =>
      sql`update recorder.target_datasets set incomplete_since = now(), incomplete_reason = '1 of 7 items could not be read'`,
  ],
  [
    'stalled',
    /^stalled since .*: schedule plan subnets: the schedule is missing in the queue$/m,
    () =>
      sql`insert into recorder.schedules (recorder, schedule, every_ms, next_at, missing_since, seen_at) values ('recorder', 'plan subnets', 3600000, null, now() - interval '2 minutes', now())`,
  ],
  [
    'failing',
    /^failing since .*: node validator-1: another node: NodeID-B responds at the URL of validator-1$/m,
    async () => {
      await sql`update recorder.targets set target = '{"node":"validator-1"}'`;
      await sql`
        insert into recorder.node_bindings (node, node_id, bound_by, bound_at, difference, differs_since, differs_at)
        values ('validator-1', 'NodeID-A', 'first sight', now(), 'another node: NodeID-B responds at the URL of validator-1', now(), now())`;
    },
  ],
] as const)('exits 1 if something is %s, and reports what and why', async (state, message, make) => {
  await make();
  const { code, stdout } = await status();
  expect(code).toBe(1);
  expect(stdout).toMatch(message);
  const { findings } = JSON.parse((await status('--json')).stdout);
  expect(findings).toContainEqual(expect.objectContaining({ state, count: 1 }));
});
