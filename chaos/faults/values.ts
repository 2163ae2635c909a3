import { ManualClock } from '../../sandbox/clock.ts';
import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import { inProcess } from '../in-process.ts';
import { RevisingUpstream } from '../servers/revising-upstream.ts';
import { DAY } from '../settings.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { Fault } from './fault.ts';

const START = Date.UTC(2026, 0, 10, 5, 17);
const HOUR = 3_600_000;

/** The value that the sandbox writes, and the only value that may be stored of it; null: none. */
const NUMBERS: readonly { kind: FaultKind; stored: string | null }[] = [
  { kind: 'huge-integer', stored: '9007199254740993' },
  { kind: 'long-digits', stored: '123456789012345678901234567890' },
  { kind: 'huge-exponent', stored: `1${'0'.repeat(400)}` },
  { kind: 'minus-zero', stored: '0' },
  { kind: 'negative', stored: '-17' },
  { kind: 'nan-string', stored: null },
];

const numbers: Fault = {
  numbers: [37, 38],
  title: 'integers past 2^53, 1e400, −0, 30-digit strings, NaN',
  backends: 'any',
  invariants: ['B'],
  short: true,
  async inject(world) {
    const { sql, evidence } = world;
    const clock = new ManualClock(START);
    const sandbox = await world.openSandbox({ clock: clock.now, genesisMs: START - 60 * DAY });
    const datasets = { metric_points: { every: '1h', metrics: ['txCount'], intervals: ['hour'] } };
    const recorder = await inProcess(world, { datasets, chains: ['43114'] }, clock.now);
    const feed = recorder.feed('metric-points');
    for (const { kind, stored } of NUMBERS) {
      sandbox.faults.next({ service: 'metrics' }, kind);
      await recorder.work(feed);
      clock.advance(HOUR);
      const [quarantined] = await sql<{ n: number }[]>`select count(*)::int as n from recorder.quarantine`;
      const kept = await sql`select 1 from recorder.metric_points where value = ${stored}::text::numeric`;
      if (stored === null) evidence.claim(`${kind} was quarantined`, (quarantined?.n ?? 0) === 1);
      else evidence.claim(`${kind} was stored exactly`, kept.length > 0);
      sandbox.faults.clear();
    }
    const rounded = await sql`
      select 1 from recorder.metric_points where value in (9007199254740992, 123456789012345680000000000000)`;
    evidence.claim('nothing was rounded', rounded.length === 0);
  },
};

const forked: Fault = {
  numbers: [42],
  title: 'the same block number with another hash',
  backends: 'any',
  invariants: ['B', 'C'],
  // The number of blocks with which some are within the newest ten minutes, which every poll reads again.
  sandbox: { blocksPerHour: 600 },
  async inject(world) {
    const { sql, evidence, sandbox } = world;
    const steady = await Steady.start(world, { days: 0, watch: 1 });
    await steady.waitUntilCovered();
    sandbox.faults.rate({ 'other-hash': 1 });
    await until('hashes to differ', () => (sandbox.ledger.faults()['other-hash'] ?? 0) >= 6);
    sandbox.faults.clear();
    await steady.expectRecovery('hashes were right again');
    world.watched.length = 0; // there are more blocks than ever before
    const [row] = await sql<{ n: number }[]>`
      select count(distinct entity)::int as n from reporting.disagreements('proposed_blocks')`;
    evidence.claim('both blocks of a number are stored and flagged', (row?.n ?? 0) > 0);
    evidence.figures.set('numbers with two hashes', row?.n ?? 0);
    await steady.stop();
  },
};

/** Polls of a service that revises values at every call, by real processes that are killed meanwhile. */
const revisedUnderKills: Fault = {
  numbers: [43],
  title: 'points revised, reverted, removed, under kill -9',
  backends: 'each',
  invariants: ['B', 'D'],
  short: true,
  async inject(world) {
    const { evidence, random, setting } = world;
    const upstream = await RevisingUpstream.open({ random, points: 120, changeShare: 0.3, faults: 0.1 });
    world.closers.add(() => upstream.close());
    world.revising = upstream;
    const steady = await Steady.start(world, {
      watch: 0,
      chains: ['43114', '43113'],
      metrics: { url: upstream.url },
      datasets: {
        proposed_blocks: { enabled: false },
        metric_points: { every: '5s', metrics: ['txCount', 'gasUsed'], intervals: ['hour'] },
      },
      processes: 2,
    });
    const kills = setting.options.kills ?? (setting.options.short ? 3 : 5);
    for (let kill = 0; kill < kills; kill++) {
      const answered = upstream.answered;
      await until('the service to be called', () => upstream.answered > answered + random.below(3));
      await steady.running.shift()?.kill();
      evidence.serve('kill -9');
      steady.launch();
      await steady.running.at(-1)?.waitForLog('recording started');
    }
    const answered = upstream.answered;
    await until('some more answers', () => upstream.answered > answered + 8);
    await steady.stop();
    evidence.serve('changed points', upstream.changed);
  },
};

/** A hundred thousand revisions, and the known values at every instant of them. */
const manyRevisions: Fault = {
  numbers: [43],
  title: 'every as-of query equals the expected result',
  backends: 'any',
  invariants: ['B', 'D'],
  short: true,
  async inject(world) {
    const { sql, evidence, random, setting } = world;
    const clock = new ManualClock(START);
    const upstream = await RevisingUpstream.open({
      random,
      points: 1_000,
      changeShare: 0.5,
      faults: 0,
      clock: clock.now,
    });
    world.closers.add(() => upstream.close());
    world.revising = upstream;
    const revisionCount = setting.options.rows ?? 10_000;
    const datasets = { metric_points: { every: '1h', metrics: ['txCount'], intervals: ['hour'] } };
    const recorder = await inProcess(
      world,
      { datasets, chains: ['43114'], metrics: { url: upstream.url } },
      clock.now,
    );
    const feed = recorder.feed('metric-points');
    const [target] = feed.targets;
    if (!target) throw new Error('no target');
    const instants: number[] = [];
    while (upstream.changed < revisionCount) {
      const window = { from: clock.now() - 1_100 * HOUR, to: clock.now() };
      await recorder.run(feed, { target, window, reason: 'manual' });
      instants.push(clock.now());
      clock.advance(60_000);
    }
    evidence.serve('revisions', upstream.changed);
    let compared = 0;
    for (const instant of instants) {
      const expectedPoints =
        upstream.targets[0] && upstream.answerWithin(upstream.targets[0], instant, instant)?.points;
      const rows = await sql<{ at: string; value: string }[]>`
        select extract(epoch from bucket_start)::bigint as at, value::text
        from reporting.metric_points_as_of(${new Date(instant)})`;
      const same =
        expectedPoints?.size === rows.length &&
        rows.every(({ at, value }) => expectedPoints.get(Number(at)) === value);
      if (!same) evidence.claim(`as of ${new Date(instant).toISOString()} equals the expected result`, false);
      compared += rows.length;
    }
    evidence.figures.set('instants compared', instants.length);
    evidence.figures.set('values compared', compared);
  },
};

/** Contradictory responses of a node. */
const rpc: Fault = {
  numbers: [44],
  title: 'JSON-RPC error in a 200, wrong id, empty body; health 200 with healthy: false',
  backends: 'each',
  invariants: ['B', 'E', 'I'],
  async inject(world) {
    const { sql, evidence, sandbox } = world;
    const steady = await Steady.start(world, {
      watch: 0,
      nodes: ['validator-1', 'validator-2', 'validator-3'].map((name) => ({
        name,
        url: `${sandbox.url}/nodes/${name}`,
      })),
      datasets: {
        proposed_blocks: { enabled: false },
        node_health: { every: '5s' },
        validators: { every: '5s' },
      },
    });
    await steady.waitUntilRecorded();
    const [before] = await sql<
      { n: number }[]
    >`select count(*)::int as n from recorder.validators where valid_to is null`;
    const kinds = ['rpc-error', 'rpc-wrong-id', 'rpc-empty', 'health-lie'] as const;
    for (const kind of kinds) sandbox.faults.rate({ [kind]: 0.25 }, { service: 'node' });
    await until(
      'each to be served',
      () => kinds.every((kind) => (sandbox.ledger.faults()[kind] ?? 0) >= 3),
      120_000,
    );
    sandbox.faults.clear();
    await steady.expectRecovery('the node answered rightly');
    const [after] = await sql<
      { n: number }[]
    >`select count(*)::int as n from recorder.validators where valid_to is null`;
    evidence.claim('no validator was retired by an invalid response', after?.n === before?.n);
    const down = await sql`select 1 from recorder.node_health where check_name = '*' and state = 'down'`;
    evidence.claim('healthy: false in a 200 is down', down.length > 0);
    await steady.stop();
  },
};

export const valueFaults: readonly Fault[] = [numbers, forked, revisedUnderKills, manyRevisions, rpc];
