import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShareBalancer, type ShareSnapshot } from '../../src/health/division.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import { shareOf, sharesOf } from '../../src/health/shares.ts';

const nodes = Array.from({ length: 300 }, (_, n) => `node-${n}`);

describe('the partitions of an observer', () => {
  it('are one with its name if it is not divided', () => {
    expect(sharesOf('paris', 1)).toEqual(['paris']);
    expect(nodes.every((node) => shareOf(node, sharesOf('paris', 1)) === 'paris')).toBe(true);
  });

  it('each have a part of the nodes, and every node belongs to one', () => {
    const shares = sharesOf('paris', 4);
    expect(shares).toEqual(['paris', 'paris/2', 'paris/3', 'paris/4']);
    for (const share of shares)
      expect(nodes.filter((node) => shareOf(node, shares) === share).length).toBeGreaterThan(
        nodes.length / 8,
      );
    expect(nodes.map((node) => shareOf(node, shares)).filter((share) => !shares.includes(share))).toEqual([]);
  });

  it('keep their nodes when a partition is added, except for those that move to it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 20 }), (node, count) => {
        const [before, after] = [count, count + 1].map((one) => shareOf(node, sharesOf('paris', one)));
        expect([before, `paris/${count + 1}`]).toContain(after);
      }),
    );
  });

  it('are what the ledger observes', () => {
    const targets = nodeHealth.source.targets({
      network: 'mainnet',
      observer: 'paris',
      shares: 3,
      nodes: ['a', 'b'],
      tags: { b: ['x'] },
      options: {},
      watch: {
        chains: [],
        nodeIds: [],
        subnets: [],
        addresses: [],
        evmAddresses: [],
        contracts: [],
        collections: [],
        transactions: [],
        assets: [],
      },
    });
    const [a, b] = ['a', 'b'].map((node) => shareOf(node, sharesOf('paris', 3)));
    expect(targets.map(({ observer, node, probe }) => [observer, node, probe])).toEqual([
      ...['health', 'readiness', 'liveness'].map((probe) => [a, 'a', probe]),
      ...['health', 'readiness', 'liveness', 'health:x', 'readiness:x'].map((probe) => [b, 'b', probe]),
    ]);
  });
});

const second = 1_000;

/** Processes that divide partitions among themselves, with leases as in the database. Time passes by two seconds. */
class ProcessPool {
  now = 0;
  readonly shares = new Map<string, { process: string | null; until: number }>();
  readonly live = new Map<string, ShareBalancer>();
  /** Time until which a killed process still counts as alive. */
  readonly killed = new Map<string, number>();

  constructor(count: number) {
    for (const share of sharesOf('paris', count)) this.shares.set(share, { process: null, until: 0 });
  }

  join(process: string) {
    this.killed.delete(process);
    this.live.set(process, new ShareBalancer(process));
  }

  kill(process: string) {
    this.live.delete(process);
    this.killed.set(process, this.now + 20 * second);
  }

  /** Stops in order, and releases its partitions. */
  leave(process: string) {
    this.live.delete(process);
    for (const one of this.shares.values())
      if (one.process === process) Object.assign(one, { process: null, until: 0 });
  }

  pass() {
    this.now += 2 * second;
    for (const one of this.shares.values())
      if (one.process !== null && this.live.has(one.process)) one.until = this.now + 6 * second;
    for (const [process, division] of this.live) {
      const { acquire, release } = division.decide(this.snapshot(), this.now);
      for (const share of acquire) {
        const one = this.shares.get(share);
        if (!one || one.until >= this.now) throw new Error(`${share} is not free`);
        Object.assign(one, { process, until: this.now + 6 * second });
      }
      for (const share of release) {
        expect(this.shares.get(share)?.process).toBe(process);
        this.shares.set(share, { process: null, until: 0 });
      }
    }
  }

  snapshot(): ShareSnapshot {
    const dying = [...this.killed].filter(([, until]) => until > this.now).map(([process]) => process);
    return {
      processes: [...this.live.keys(), ...dying].sort(),
      shares: [...this.shares].map(([share, { process, until }]) => ({
        share,
        process,
        free: until < this.now,
      })),
    };
  }

  /** The number of partitions of each live process. */
  get counts(): number[] {
    return [...this.live.keys()].map(
      (process) =>
        [...this.shares.values()].filter((one) => one.process === process && one.until >= this.now).length,
    );
  }
}

describe('processes that divide the partitions', () => {
  it('take over those of a killed one as soon as its leases have expired, and change nothing else', () => {
    const pool = new ProcessPool(4);
    for (const process of ['a', 'b', 'c', 'd']) pool.join(process);
    for (let n = 0; n < 30; n++) pool.pass();
    expect(pool.counts).toEqual([1, 1, 1, 1]);
    const before = new Map([...pool.shares].map(([share, { process }]) => [share, process]));
    pool.kill('b');
    for (let n = 0; n < 4; n++) pool.pass();
    expect(pool.counts.sort()).toEqual([1, 1, 2]);
    for (let n = 0; n < 60; n++) pool.pass();
    for (const [share, { process }] of pool.shares)
      if (before.get(share) !== 'b') expect(process).toBe(before.get(share));
  });

  it('keep the partition of a process that returned within its lease', () => {
    const division = new ShareBalancer('a');
    const shares = [{ share: 'paris', process: 'a', free: true }];
    expect(division.decide({ processes: ['a', 'b'], shares }, 0)).toEqual({
      acquire: ['paris'],
      release: [],
    });
  });

  it('take over after a while what a process with fewer partitions does not take', () => {
    const division = new ShareBalancer('a');
    const shares = [
      { share: 'paris', process: 'a', free: false },
      { share: 'paris/2', process: null, free: true },
    ];
    const at = (now: number) => division.decide({ processes: ['a', 'idle'], shares }, now).acquire;
    expect([at(0), at(9_999), at(10_000)]).toEqual([[], [], ['paris/2']]);
  });

  it('assign all partitions evenly in the end, after any joins and departures, and then keep them', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const event = fc.record({
      action: fc.constantFrom('join', 'kill', 'leave'),
      process: fc.constantFrom(...names),
      wait: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(event, { maxLength: 12 }), (count, events) => {
        const pool = new ProcessPool(count);
        pool.join('first');
        for (const { action, process, wait } of events) {
          if (action === 'join' && !pool.live.has(process)) pool.join(process);
          if (action === 'kill' && pool.live.has(process)) pool.kill(process);
          if (action === 'leave' && pool.live.has(process)) pool.leave(process);
          for (let n = 0; n < wait; n++) pool.pass();
        }
        for (let n = 0; n < 45 * names.length; n++) pool.pass();
        const counts = pool.counts;
        expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        const settled = JSON.stringify([...pool.shares].map(([share, { process }]) => [share, process]));
        for (let n = 0; n < 60; n++) pool.pass();
        expect(JSON.stringify([...pool.shares].map(([share, { process }]) => [share, process]))).toBe(
          settled,
        );
      }),
      { numRuns: 300 },
    );
  });
});
