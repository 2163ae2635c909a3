import { describe, expect } from 'vitest';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { assignJob, createSubjectCheck } from '../../src/jobs/job-assignment.ts';
import { recordJob } from '../../src/jobs/jobs.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { registerAll } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';
import { scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const join = (digest: string, roles: readonly string[], process = digest) =>
  ProcessRegistration.join(sql, { recorder: 'r', network: 'mainnet', digest }, process, roles);

describe('a job, while processes with an older and a newer configuration run', () => {
  it('is executed by a process whose configuration contains it, and dropped if none does', async () => {
    const base = scriptedFeed(nodeIdentity, { node: 'both' });
    const older = { ...base, targets: [{ node: 'both' }, { node: 'left' }] };
    const newer = { ...base, targets: [{ node: 'both' }, { node: 'came' }] };
    const old = await join('old', ['worker', 'scheduler']);
    await registerAll(sql, [older], 0, old.registrant);
    const scheduler = await join('new', ['scheduler']);
    await registerAll(sql, [newer], 0, scheduler.registrant);
    const placeOfNode = (
      peers: ProcessRegistration,
      feeds: Parameters<typeof createSubjectCheck>[0],
      node: string,
    ) => {
      const { data } = recordJob(newer, { target: { node }, window: null, reason: 'poll' });
      return assignJob(sql, peers, createSubjectCheck(feeds)(data), data);
    };
    await old.beat();
    expect(await placeOfNode(old, [older], 'both')).toBe('here');
    expect(await placeOfNode(old, [older], 'came')).toBe('elsewhere');
    expect(await placeOfNode(old, [older], 'left')).toBe('nowhere');
    expect(await placeOfNode(scheduler, [newer], 'came')).toBe('here');
    expect(await placeOfNode(scheduler, [newer], 'left')).toBe('nowhere');
    // The newer processes make all plans as soon as one of them runs.
    const plan = { kind: 'plan' as const, feed: base.source.name };
    expect(await assignJob(sql, old, true, plan)).toBe('here');
    await join('new', ['worker'], 'new, working');
    expect(await assignJob(sql, old, true, plan)).toBe('elsewhere');
  });

  it('is not dropped by a process that has not yet detected that its configuration is the older one', async () => {
    const base = scriptedFeed(nodeIdentity, { node: 'a' });
    const unaware = await join('before', ['worker']);
    expect(unaware.position.newest).toBe(true);
    const newest = await join('after', ['worker']);
    const newer = { ...base, targets: [{ node: 'b' }] };
    await registerAll(sql, [newer], 0, newest.registrant);
    const { data } = recordJob(newer, { target: { node: 'b' }, window: null, reason: 'poll' });
    expect(await assignJob(sql, unaware, createSubjectCheck([base])(data), data)).toBe('elsewhere');
  });
});
