import { beforeEach, describe, expect } from 'vitest';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { canRegister, HEARTBEAT_TIMEOUT_SECONDS } from '../../src/recording/configuration.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { registerAll, registerTargets } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';
import { scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 8 });
let names = 0;
let recorder = '';

beforeEach(() => {
  names += 1;
  recorder = `recorder-${names}`;
});

const configuration = (digest: string, network = 'mainnet') => ({ recorder, network, digest });
const join = (digest: string, process: string, roles = ['scheduler', 'worker']) =>
  ProcessRegistration.join(sql, configuration(digest), `${recorder}/${process}`, roles);
/** Leaves the state of a killed process: its last heartbeat is this many seconds ago. */
const setLastHeartbeat = (process: string, seconds: number) => sql`
  update recorder.processes set seen_at = now() - make_interval(secs => ${seconds}) where process = ${`${recorder}/${process}`}`;

it('treats a process as alive exactly if reporting_internal.processes does', async () => {
  await join('a', 'one');
  const state = async () =>
    (await sql`select state from reporting_internal.processes where recorder = ${recorder}`)[0]?.state;
  await setLastHeartbeat('one', HEARTBEAT_TIMEOUT_SECONDS - 3);
  expect(await state()).toBe('running');
  await setLastHeartbeat('one', HEARTBEAT_TIMEOUT_SECONDS);
  expect(await state()).toBe('lost');
});

describe('the newest configuration', () => {
  it('is the one that was never registered before; the older process detects it, and continues', async () => {
    const old = await join('A', 'old');
    expect(old.position).toMatchObject({ newest: true, relieved: false });
    const newer = await join('B', 'newer');
    expect(newer.position).toMatchObject({ newest: true, relieved: false });
    expect(await old.beat()).toMatchObject({ newest: false, relieved: true });
  });

  it('stays so while an older process restarts repeatedly, and another of its own starts', async () => {
    await join('A', 'old');
    const newer = await join('B', 'newer');
    for (let restart = 0; restart < 3; restart++)
      expect((await join('A', `old again ${restart}`)).position.newest).toBe(false);
    expect((await join('B', 'newer too')).position).toEqual(newer.position);
    expect((await newer.beat()).newest).toBe(true);
  });

  it('replaces older workers only once a worker has it', async () => {
    const old = await join('A', 'old');
    await join('B', 'newer', ['scheduler']);
    expect(await old.beat()).toMatchObject({ newest: false, relieved: false });
  });

  it('is an older one again when that starts and no process with the newer one is alive: a rollback', async () => {
    await join('A', 'old');
    const newer = await join('B', 'newer');
    await newer.leave();
    const rollback = await join('A', 'rolled back');
    expect(rollback.position).toMatchObject({ newest: true, generation: 3 });
    expect((await join('B', 'newer restarts')).position.newest).toBe(false);
  });

  it('is an older one again when its processes still run and those with the newer one have been dead for long', async () => {
    const old = await join('A', 'old');
    await join('B', 'newer');
    await setLastHeartbeat('newer', 30);
    expect((await old.beat()).newest, 'the newer one may be restarting').toBe(false);
    await setLastHeartbeat('newer', 90);
    expect((await old.beat()).newest).toBe(true);
  });

  it('is decided for many that start at once', async () => {
    const processes = await Promise.all(Array.from({ length: 6 }, (_, at) => join(`digest ${at}`, `p${at}`)));
    const positions = await Promise.all(processes.map((one) => one.beat()));
    expect(positions.filter(({ newest }) => newest)).toHaveLength(1);
    expect(new Set(positions.map(({ generation }) => generation)).size).toBe(6);
  });

  it('is stored again in a database without it: a restored backup', async () => {
    const running = await join('A', 'running');
    await sql`delete from recorder.configurations where recorder = ${recorder}`;
    expect((await running.beat()).newest).toBe(true);
  });

  it('must have the network that living processes of the name record', async () => {
    await join('A', 'old');
    const other = ProcessRegistration.join(sql, configuration('F', 'fuji'), `${recorder}/fuji`, ['worker']);
    await expect(other).rejects.toThrow(UsageError);
    await expect(other).rejects.toThrow(/mainnet.*name/);
    await setLastHeartbeat('old', 60);
    expect(
      (await ProcessRegistration.join(sql, configuration('F', 'fuji'), `${recorder}/f`, [])).position.newest,
    ).toBe(true);
  });
});

describe('the wanted targets', () => {
  const selectActiveTargets = async (source: string) => {
    const rows = await sql<{ target_key: string; recorder: string }[]>`
      select target_key, t.recorder from recorder.target_datasets d join recorder.targets t using (source, target_key)
      where source = ${source} and active order by target_key`;
    return rows.map(({ target_key }) => target_key);
  };

  it('are written by the newest configuration only', async () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'a' });
    const old = await join('A', 'old');
    await registerTargets(sql, feed, 0, old.registrant);
    const newer = await join('B', 'newer');
    await registerAll(sql, [{ ...feed, targets: [{ node: 'b' }] }], 0, newer.registrant);
    expect(await selectActiveTargets(feed.source.name)).toEqual(['node=b']);
    await registerTargets(sql, feed, 0, old.registrant);
    await registerAll(sql, [], 0, old.registrant);
    expect(await selectActiveTargets(feed.source.name)).toEqual(['node=b']);
    await registerAll(sql, [], 0, newer.registrant);
    expect(await selectActiveTargets(feed.source.name)).toEqual([]);
  });

  it('are not changed by a command in the foreground while a process has another configuration', async () => {
    expect(await canRegister(sql, configuration('B'))).toBe(true);
    await join('A', 'running');
    expect(await canRegister(sql, configuration('A'))).toBe(true);
    expect(await canRegister(sql, configuration('B'))).toBe(false);
  });

  it('of two recorders with names are separate; one target does not belong to both', async () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'shared' });
    const separateFeed = { ...feed, targets: [{ node: 'own' }] };
    const first = await join('A', 'first');
    await registerAll(sql, [feed], 0, first.registrant);
    const named = { recorder: `${recorder}-b`, network: 'mainnet', digest: 'B' };
    const second = await ProcessRegistration.join(sql, named, `${recorder}/second`, ['worker']);
    const refused = registerAll(sql, [feed], 0, second.registrant);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(
      new RegExp(`node=shared.*"${recorder}".*"${recorder}-b".*remove the target from one configuration`),
    );
    await registerAll(sql, [separateFeed], 0, second.registrant);
    await registerAll(sql, [feed], 0, first.registrant);
    expect(await selectActiveTargets(feed.source.name)).toEqual(['node=own', 'node=shared']);
    // The first one has ended: its targets can be taken over.
    await first.leave();
    await registerAll(sql, [feed], 0, second.registrant);
    expect(await selectActiveTargets(feed.source.name)).toEqual(['node=shared']);
  });
});
