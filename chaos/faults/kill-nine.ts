import { setTimeout as delay } from 'node:timers/promises';
import { unfoundedClaims } from '../invariants/coverage.ts';
import { blockTargets, configure, dayOf, midnight, UNCLAIMED_DAYS } from '../settings.ts';
import { allCovered, covered } from '../stored-blocks.ts';
import type { WatchedBlocks } from '../truth.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';
import { faultShare, upstreamNoise } from './upstream-noise.ts';

const KILLS = 24;
/** In the short selection, of the targets of one node. */
const SHORT_KILLS = 4;
const ROWS = 24_000;
const DAYS = 7;
const TARGETS = 12;
/** Interval at which claims are checked during kills, ms. */
const CHECK_EVERY = 40;

/** 1: worker processes of a backfill are killed at random moments, repeatedly, while the upstream fails at random. */
export const killNine: Fault = {
  numbers: [1],
  title: 'kill -9 at random moments of a backfill',
  backends: 'any',
  invariants: ['A', 'B', 'C', 'H'],
  short: true,
  sandbox: ({ rows }) => ({ blocksPerHour: Math.ceil((rows ?? ROWS) / (TARGETS * DAYS * 24)) }),
  async inject(world) {
    const { sandbox, evidence, setting } = world;
    const { kills, short } = setting.options;
    const killCount = kills ?? (short ? SHORT_KILLS : KILLS);
    const nodeIds = busyNodes(world, short ? 1 : TARGETS / 3);
    const [from, to] = [midnight(DAYS + 1 + UNCLAIMED_DAYS), midnight(1 + UNCLAIMED_DAYS)];
    world.watched.push(...blockTargets(nodeIds, from, to));
    const rows = world.watched.reduce((sum, one) => sum + trueCount(world, one), 0);
    await configure(world, { datasets: { proposed_blocks: { since: dayOf(midnight(1)) } }, nodeIds });
    // Coverage never extends beyond the newest item of an index, and an old window alone does not show its progress.
    const { code } = await world.recorder(['record', 'proposed_blocks']).ended;
    evidence.claim('the newest blocks were recorded before the kills', code === 0);
    upstreamNoise(world);
    const campaign = new Campaign(world, killCount);
    await Promise.all(world.watched.map((target) => campaign.backfill(target)));
    evidence.serve('kill -9', campaign.kills);
    evidence.figures.set('kills', campaign.kills);
    evidence.figures.set('moments', JSON.stringify(campaign.moments));
    evidence.figures.set('true rows', rows);
    evidence.figures.set('calls', sandbox.ledger.count('listPrimaryNetworkBlocksByNodeId'));
    evidence.figures.set('fault share', `${(faultShare(world) * 100).toFixed(1)} %`);
    // Any share of the few calls in the short selection is possible.
    evidence.claim(
      'enough of the calls were answered with faults',
      faultShare(world) >= (short ? 0.01 : 0.09),
    );
    evidence.claim(`${killCount} kills were made`, campaign.kills >= killCount);
    for (const target of world.watched) {
      const ranges = await covered(world.sql, target);
      evidence.claim(
        `coverage of ${target.blockchainId} of ${target.nodeId} is exact`,
        ranges.length === 1 && ranges[0]?.from === target.from && ranges[0].to === target.to,
      );
    }
  },
};

/** Nodes with regular proposals: those with the most blocks in the time. */
function busyNodes(world: World, count: number): string[] {
  return world.sandbox.network.validators.nodes.slice(0, count).map(({ nodeId }) => nodeId);
}

function trueCount(
  { sandbox: { network } }: World,
  { nodeId, blockchainId, from, to }: WatchedBlocks,
): number {
  return network.proposedBlockCount(nodeId, blockchainId, Math.ceil(from / 1000), Math.ceil(to / 1000) - 1);
}

/** Kills the workers of several targets until there were enough kills, then lets them finish. */
class Campaign {
  kills = 0;
  /** Number of kills by activity. */
  readonly moments: Record<string, number> = {};
  readonly #world: World;
  readonly #killCount: number;
  /**
   * Maximum lifetime of a worker after its first call; it follows the progress, so that kills and rows end together.
   */
  #maxLifetimeMs = 1_500;
  #claimsChecked = Promise.resolve();

  constructor(world: World, killCount: number) {
    this.#world = world;
    this.#killCount = killCount;
  }

  /** Backfills one target by one worker after the other. */
  async backfill(target: WatchedBlocks): Promise<void> {
    const { sql, random, evidence } = this.#world;
    for (let worker = 0; ; worker++) {
      if (worker % 5 === 0 && (await allCovered(sql, [target])) && this.kills >= this.#killCount) return;
      const recorder = this.#world.recorder(commandLine(target));
      const callsBefore = this.#callsFor(target);
      if (this.kills >= this.#killCount) {
        const { code } = await recorder.ended;
        if (code === 0 && (await allCovered(sql, [target]))) return;
        if (code !== 0 && code !== 75 && code !== 1) evidence.claim(`a worker ended with ${code}`, false);
        this.#forget(recorder);
        continue;
      }
      // One in five at any moment of its life, the others during their requests.
      const anyMoment = random.unit() < 0.2;
      const lifetimeMs = anyMoment ? random.unit() * 9_000 : random.unit() * this.#maxLifetimeMs;
      if (!anyMoment)
        await until(
          'a worker to send a request, or to end',
          () => !recorder.running || this.#callsFor(target) > callsBefore,
          120_000,
        );
      await Promise.race([delay(lifetimeMs), recorder.ended]);
      if (recorder.running) {
        await recorder.kill();
        this.kills += 1;
        const moment =
          this.#callsFor(target) > callsBefore ? 'fetching' : 'starting or waiting for the lease';
        this.moments[moment] = (this.moments[moment] ?? 0) + 1;
        if (this.kills % CHECK_EVERY === 0) await this.#adjustLifetime();
      } else await recorder.ended;
      this.#forget(recorder);
    }
  }

  /** Compares progress with kills, and coverage with rows, during the fault. */
  async #adjustLifetime(): Promise<void> {
    const world = this.#world;
    const [row] = await world.sql<
      { rows: number }[]
    >`select count(*)::float8 as rows from recorder.proposed_blocks`;
    const trueRows = world.watched.reduce((sum, one) => sum + trueCount(world, one), 0);
    const recordedShare = (row?.rows ?? 0) / trueRows;
    const killShare = this.kills / this.#killCount;
    this.#maxLifetimeMs = Math.min(
      20_000,
      Math.max(50, this.#maxLifetimeMs * (recordedShare > killShare ? 0.7 : 1.4)),
    );
    process.stderr.write(
      `  ${this.kills} kills, ${row?.rows} rows of ${trueRows}, maximum lifetime ${Math.round(this.#maxLifetimeMs)} ms\n`,
    );
    this.#claimsChecked = this.#claimsChecked.then(async () => {
      const target = world.random.pick(world.watched);
      for (const problem of await unfoundedClaims(world, [target]))
        world.evidence.claim(`meanwhile ${problem}`, false);
    });
    await this.#claimsChecked;
  }

  #callsFor({ nodeId, blockchainId }: WatchedBlocks): number {
    return this.#world.calls.get(`${blockchainId} ${nodeId}`) ?? 0;
  }

  #forget(recorder: World['recorders'][number]): void {
    this.#world.noteLines(recorder);
    this.#world.recorders.splice(this.#world.recorders.indexOf(recorder), 1);
  }
}

function commandLine({ nodeId, blockchainId, from, to }: WatchedBlocks): string[] {
  const range = ['--from', new Date(from).toISOString(), '--to', new Date(to).toISOString()];
  return [
    'backfill',
    'proposed_blocks',
    ...range,
    '--target',
    `nodeId=${nodeId}`,
    '--target',
    `blockchainId=${blockchainId}`,
  ];
}
