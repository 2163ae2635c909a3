import postgres from 'postgres';
import { describe, expect } from 'vitest';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { LEASE_SECONDS } from '../../src/db/leases.ts';
import { claimRun, renewLease } from '../../src/recording/claim-run.ts';
import type { Job } from '../../src/recording/job.ts';
import { record } from '../../src/recording/record.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { withDatabase } from '../support/fixture.ts';
import { recordingContext, type ScriptedFeed, scriptedFeed } from '../support/scripted-feed.ts';

const { it, database, sql } = withDatabase({ max: 12 });

const now = Date.UTC(2026, 0, 10);
const at = (milliseconds: number) => new Date(milliseconds).toISOString();
const createFeed = () => scriptedFeed(nodeIdentity, { node: 'n' });
const job = (more: Partial<Job> = {}): Job => ({
  target: { node: 'n' },
  window: null,
  reason: 'poll',
  ...more,
});
const claim = (feed: ScriptedFeed, more: Partial<Job> = {}, startedAt = now) =>
  claimRun(sql, feed, job(more), 'me', at(startedAt));
const storeSuccess = (feed: ScriptedFeed, instant: number) =>
  sql`with freed as (update recorder.targets set run_id = null, lease_until = null where source = ${feed.source.name})
    update recorder.target_datasets set last_success_at = ${at(instant)} where source = ${feed.source.name}`;

describe('targetKey', () => {
  it('is the same for the same target, whatever the order of its keys', () => {
    expect(targetKey({ b: '2', a: '1' })).toBe(targetKey({ a: '1', b: '2' }));
    expect(targetKey({ a: '1', b: '2' })).toBe('a=1 b=2');
  });
});

describe('claim', () => {
  it('gives the target to one of many simultaneous runs', async () => {
    const feed = createFeed();
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(feed)));
    expect(claims.filter((claimed) => claimed === 'held')).toHaveLength(9);
    const runs = await sql`select status from recorder.runs where source = ${feed.source.name}`;
    expect([...runs]).toEqual([{ status: 'running' }]);
  });

  it('takes over an expired lease once, and ends the run that lost it', async () => {
    const feed = createFeed();
    const first = await claim(feed);
    await sql`update recorder.targets set lease_until = now() - interval '1 s' where source = ${feed.source.name}`;
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(feed, {}, now + 1)));
    expect(claims.filter((claimed) => claimed === 'held')).toHaveLength(5);
    const runs = await sql<{ run_id: string; status: string; error: string | null }[]>`
      select run_id, status, error from recorder.runs where source = ${feed.source.name} order by run_id`;
    expect([...runs]).toEqual([
      { run_id: String(first), status: 'lost', error: expect.stringContaining('lease') },
      { run_id: expect.any(String), status: 'running', error: null },
    ]);
    const [targetState] = await sql`
      select failures, last_failure_at, last_error from recorder.target_datasets where source = ${feed.source.name}`;
    expect(targetState, 'a lost run is a failed one').toEqual({
      failures: 1,
      last_failure_at: new Date(now + 1),
      last_error: runs[0]?.error,
    });
  });

  it('drops a job that another run has made redundant since it was planned', async () => {
    const feed = createFeed();
    await claim(feed);
    await storeSuccess(feed, now + 5);
    expect(await claim(feed, { plannedAt: now + 4 }, now + 6)).toBe('outdated');
    expect(await claim(feed, { plannedAt: now + 5 }, now + 6)).toEqual(expect.any(Number));
  });

  it('keeps a job after a success that lies in the future: the clock jumped back', async () => {
    const feed = createFeed();
    await claim(feed);
    await storeSuccess(feed, now + 7_200_000);
    expect(await claim(feed, { plannedAt: now }, now)).toEqual(expect.any(Number));
  });

  it('never drops a job that was not planned', async () => {
    const feed = createFeed();
    await claim(feed);
    await storeSuccess(feed, now);
    expect(await claim(feed, {}, now)).toEqual(expect.any(Number));
  });
});

describe('keepLease', () => {
  it('extends its own lease and reports if another run has it', async () => {
    const feed = createFeed();
    const runId = await claim(feed);
    if (typeof runId === 'string') throw new Error(runId);
    const readLeaseEnd = async () => {
      const [row] = await sql<{ until: Date }[]>`
        select lease_until as until from recorder.targets where source = ${feed.source.name}`;
      return row?.until.getTime() ?? 0;
    };
    await sql`update recorder.targets set lease_until = now() - interval '1 s' where source = ${feed.source.name}`;
    const before = await readLeaseEnd();
    expect(await renewLease(sql, feed.source.name, 'node=n', runId)).toBe(true);
    expect(await readLeaseEnd()).toBeGreaterThan(before + 5_000);
    expect(await claim(feed)).toBe('held');
    expect(await renewLease(sql, feed.source.name, 'node=n', runId + 1)).toBe(false);
  });
});

describe('a lease', () => {
  /** Locks a table, as a migration does. @returns releases it once a statement waits for it, and returns that time */
  const lockTable = async (table: string): Promise<() => Promise<Date>> => {
    const migration = postgres(database.url, { max: 1, onnotice: () => {} });
    await migration.unsafe(`begin; lock table recorder.${table}`);
    return async () => {
      await waitUntilBlocked(sql);
      const [released] = await migration<{ at: Date }[]>`select clock_timestamp() as at`;
      await migration.unsafe('commit');
      await migration.end();
      return released?.at ?? new Date(Number.NaN);
    };
  };
  const readLeaseDuration = async ({ source }: ScriptedFeed, from: Date) => {
    const [row] = await sql<{ until: Date }[]>`
      select lease_until as until from recorder.targets where source = ${source.name}`;
    return row ? row.until.getTime() - from.getTime() : Number.NaN;
  };

  it('lasts from the time of its claim, however long the claim waited', async () => {
    const feed = createFeed();
    const release = await lockTable('runs');
    const [releasedAt] = await Promise.all([release(), claim(feed)]);
    expect(await readLeaseDuration(feed, releasedAt)).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
  });

  it('lasts from the time of its renewal', async () => {
    const feed = createFeed();
    const runId = Number(await claim(feed));
    const release = await lockTable('targets');
    const [releasedAt] = await Promise.all([release(), renewLease(sql, feed.source.name, 'node=n', runId)]);
    expect(await readLeaseDuration(feed, releasedAt)).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
  });

  it('lasts from the time of a commit', async () => {
    const feed = createFeed();
    let [onCommit, duration] = [() => {}, Number.NaN];
    const committed = new Promise<void>((resolve) => {
      onCommit = resolve;
    });
    feed.script = async function* () {
      const release = await lockTable('node_identity');
      yield { body: nodeIdentity.example, proven: null, last: false, whole: true };
      const releasedAt = await release();
      await committed;
      duration = await readLeaseDuration(feed, releasedAt);
    };
    const context = recordingContext(sql, () => now);
    await record(context, feed, job(), new AbortController().signal, () => onCommit());
    expect(duration).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
  });
});
