import { blockTargets, configure, dayOf, midnight, UNCLAIMED_DAYS, UNCLAIMED_MS } from '../settings.ts';
import { Steady } from '../steady.ts';
import { eventually } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const DAYS = 1;
const NEWEST_CONFIG_LOG = 'this configuration became the newest';
const OLDER_CONFIG_LOG = 'another process has a newer configuration';

/** A configuration that records the blocks of some of the network's nodes. @returns its file */
const blocksOf = (world: World, file: string, nodes: readonly number[], name?: string) =>
  configure(
    world,
    {
      ...(name === undefined ? {} : { name }),
      nodeIds: nodes.map((at) => nodeId(world, at)),
      datasets: { proposed_blocks: { every: '5s', since: dayOf(midnight(DAYS + UNCLAIMED_DAYS)) } },
    },
    file,
  );

function nodeId({ sandbox }: World, at: number): string {
  const node = sandbox.network.validators.nodes[at];
  if (!node) throw new Error(`the network has no node ${at}`);
  return node.nodeId;
}

/** Indexes of the nodes whose blocks are configured now. */
async function configuredNodes(world: World): Promise<number[]> {
  const rows = await world.sql<{ node: string }[]>`
    select distinct t.target ->> 'nodeId' as node from recorder.target_datasets d
    join recorder.targets t using (source, target_key) where d.active and d.dataset = 'proposed_blocks'`;
  const configured = new Set(rows.map(({ node }) => node));
  return [0, 1, 2, 3].filter((at) => configured.has(nodeId(world, at)));
}

const waitForNodes = (world: World, nodes: readonly number[]) =>
  eventually(
    `nodes ${nodes.join(', ')} to be configured`,
    async () => (await configuredNodes(world)).join() === nodes.join(),
    40_000,
  );

/** A rolling update with a changed configuration: newer processes take over, older ones continue, and back. */
const rolling: Fault = {
  numbers: [65],
  title: 'a rolling update with another configuration, an older process that restarts, and a rollback',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence } = world;
    const steady = await Steady.start(world, { watch: 2, days: DAYS });
    await steady.waitUntilRecorded();
    const newer = await blocksOf(world, 'newer.yaml', [0, 2]);
    const up = world.recorder(['up', '--config', newer]);
    steady.running.push(up);
    await up.waitForLog(NEWEST_CONFIG_LOG);
    evidence.serve('newer configurations');
    await steady.running[0]?.waitForLog(OLDER_CONFIG_LOG);
    await waitForNodes(world, [0, 2]);
    await steady.expectRecovery('the newer configuration started');
    for (let restart = 0; restart < 2; restart++) {
      await steady.running[0]?.kill();
      const restarted = steady.launch();
      steady.running.splice(0, 1, ...steady.running.splice(-1));
      await restarted.waitForLog(OLDER_CONFIG_LOG);
      evidence.serve('older process restarted');
    }
    evidence.claim(
      'an older process that restarts changes nothing',
      (await configuredNodes(world)).join() === '0,2',
    );
    await steady.expectRecovery('an older process restarted');
    // A command with the older file does not disturb either.
    const record = world.recorder(['record', 'proposed_blocks']);
    evidence.claim('record with the older file exits 0', (await record.ended).code === 0);
    evidence.claim('it changes no watched target', (await configuredNodes(world)).join() === '0,2');
    evidence.exit('the newer up, stopped by SIGTERM', await up.stop(), [0], 20_000);
    await steady.running[0]?.kill();
    await steady.stop();
    const back = steady.launch();
    await back.waitForLog(NEWEST_CONFIG_LOG);
    evidence.serve('rollback');
    await waitForNodes(world, [0, 1]);
    await steady.expectRecovery('the rollback');
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

/** Two recorders in one database: with separate names, or refused. */
const namedRecorders: Fault = {
  numbers: [65],
  title: 'two recorders with names side by side, and one with targets of another one',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence } = world;
    const steady = await Steady.start(world, { watch: 2, days: DAYS });
    await steady.waitUntilRecorded();
    const same = await blocksOf(world, 'same.yaml', [1, 2], 'second');
    const startedAt = performance.now();
    const refused = world.recorder(['up', '--config', same]);
    const ending = { ...(await refused.ended), elapsedMs: performance.now() - startedAt };
    evidence.exit('up with a target of another recorder', ending, [2], 60_000);
    evidence.serve('target of two recorders');
    const message = refused.find(nodeId(world, 1)) ?? '';
    evidence.claim(
      'it names the target, both recorders and the fix',
      ['"recorder"', '"second"', 'leave it out'].every((word) => message.replaceAll('\\', '').includes(word)),
    );
    evidence.claim('and changed nothing', (await configuredNodes(world)).join() === '0,1');
    const apart = await blocksOf(world, 'apart.yaml', [2, 3], 'second');
    const second = world.recorder(['up', '--config', apart]);
    await second.waitForLog(NEWEST_CONFIG_LOG);
    evidence.serve('two recorders');
    steady.running.push(second);
    world.watched.push(
      ...blockTargets(
        [nodeId(world, 2), nodeId(world, 3)],
        midnight(DAYS + UNCLAIMED_DAYS),
        Date.now() - UNCLAIMED_MS,
      ),
    );
    await waitForNodes(world, [0, 1, 2, 3]);
    await steady.expectRecovery('the second recorder started');
    await steady.waitUntilCovered();
    evidence.claim(
      'the first one still decides for itself',
      steady.running[0]?.find(OLDER_CONFIG_LOG) === undefined,
    );
    await steady.stop();
  },
};

/** Targets removed from the configuration end once, and are reported. */
const removedTargets: Fault = {
  numbers: [66],
  title: 'a node renamed and a target removed from watch, with a kill in between',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence, sql } = world;
    const { url } = world.sandbox;
    const plan = {
      watch: 1,
      days: DAYS,
      datasets: { validators: { every: '5s' }, node_health: { every: '5s' } },
    };
    const steady = await Steady.start(world, { ...plan, nodes: [{ name: 'before', url }] });
    await steady.waitUntilRecorded();
    const members = async (node: string) => {
      const [row] = await sql<{ now: number; unwatched: number; removed: number }[]>`
        select (count(*) filter (where valid_to is null))::int as now,
          (count(*) filter (where ended_by = 'unwatched'))::int as unwatched,
          (count(*) filter (where ended_by = 'gone'))::int as removed
        from reporting.node_validators_history where node = ${node}`;
      return row ?? { now: 0, unwatched: 0, removed: 0 };
    };
    const [before] = await sql<{ n: number }[]>`select count(*)::int as n from reporting.node_validators`;
    await Promise.all(steady.running.map((one) => one.kill()));
    steady.running = [];
    const renamed = await Steady.prepare(world, { ...plan, nodes: [{ name: 'after', url }] });
    const killed = renamed.launch();
    await killed.waitForLog(NEWEST_CONFIG_LOG);
    await killed.kill();
    renamed.running = [];
    evidence.serve('node renamed');
    renamed.launch();
    renamed.launch();
    await eventually('the old name to end', async () => (await members('before')).now === 0, 40_000);
    await eventually('the new name to be there', async () => (await members('after')).now > 0, 40_000);
    const ended = await members('before');
    evidence.figures.set('members ended', ended.unwatched);
    evidence.claim(
      'all earlier rows are kept, as unwatched',
      ended.unwatched === before?.n && ended.removed === 0,
    );
    await renamed.expectRecovery('the node was renamed');
    const reportCount = world.recorders.reduce(
      (sum, one) =>
        sum +
        one.lines.filter(
          (line) =>
            line.includes('it was ended') && line.includes('node=before') && line.includes('"validators"'),
        ).length,
      0,
    );
    evidence.claim(`it is reported once (${reportCount} times)`, reportCount === 1);
    const open = await eventually(
      "the old name's health to end",
      async () => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from recorder.node_health where node = 'before' and ended_at is null`;
        return row?.n === 0;
      },
      40_000,
    );
    evidence.claim('its health ends', open);
    const found = await sql`select 1 from reporting.findings where subject like '%before%'`;
    evidence.claim('it has no late target', found.length === 0);
    await renamed.waitUntilCovered();
    await renamed.stop();
  },
};

/** The database is restored to an earlier state; the queue is not. */
const restoredBackup: Fault = {
  numbers: [79],
  title: 'a restored backup that lacks the newest part, under running processes',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: { blocksPerHour: 60 },
  async inject(world) {
    const { evidence, setting, sql } = world;
    const steady = await Steady.start(world, { watch: 2, days: DAYS });
    await steady.waitUntilRecorded();
    await steady.waitUntilCovered();
    await steady.stop();
    const backup = await setting.postgres.copy(world.databaseUrl);
    world.closers.add(() => setting.postgres.drop(backup));
    // The backup lacks everything recorded from here on: earlier days, and another node.
    const rows = async () =>
      (await sql<{ n: number }[]>`select count(*)::int as n from recorder.proposed_blocks`)[0]?.n ?? 0;
    const rowsBefore = await rows();
    world.watched.length = 0;
    const later = await Steady.start(world, { watch: 3, days: DAYS + 3, processes: 2 });
    await later.waitUntilCovered();
    const lost = (await rows()) - rowsBefore;
    evidence.serve('rows lost with the database', lost);
    await setting.postgres.swap(world.databaseUrl, backup);
    evidence.serve('backup restored');
    await later.expectRecovery('the backup was restored');
    await later.waitUntilCovered();
    evidence.claim(
      'no manual help was needed',
      later.running.every(({ running }) => running),
    );
    await later.stop();
  },
};

export const recorderFaults: readonly Fault[] = [rolling, namedRecorders, removedTargets, restoredBackup];
