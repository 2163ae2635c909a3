import fc from 'fast-check';
import type postgres from 'postgres';
import { expect } from 'vitest';
import { pendingRewardList } from '../../src/datasets/chain-data/pending-reward-list.ts';
import { pendingRewards } from '../../src/datasets/chain-data/pending-rewards.ts';
import { subnetList } from '../../src/datasets/chain-data/subnet-list.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { toErrorMessage } from '../../src/lib/errors.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { record } from '../../src/recording/record.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { ManualClock } from '../support/clock.ts';
import { recordingContext } from '../support/scripted-feed.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 10);

/** A change of the list. Places beyond its end wrap around to its start. */
export type Change =
  | { readonly kind: 'insert'; readonly member: number; readonly place: number }
  | { readonly kind: 'remove'; readonly place: number }
  | { readonly kind: 'move'; readonly from: number; readonly to: number };

/** One walk: what changes before it and before each of its calls after the first. */
export interface WalkCase {
  readonly before: readonly Change[];
  readonly between: readonly (readonly Change[])[];
  /** Number of the call whose token is expired; null: none. */
  readonly expiredCall: number | null;
  /** The responses contain the length of the list. */
  readonly hasTotal: boolean;
}

export interface ListCase {
  /** `pending_rewards`: most members have their own end. */
  readonly of: 'subnets' | 'pending_rewards';
  readonly tokens: 'offset' | 'keyset';
  readonly pageSize: number;
  readonly members: readonly number[];
  readonly walks: readonly WalkCase[];
}

/** The list of an upstream during one walk. */
interface ObservedList {
  /** Members that were listed from the last walk's end to the end of this one. */
  readonly throughout: ReadonlySet<number>;
  /** Members that a response contained. */
  readonly shownMembers: ReadonlySet<number>;
  /** The walk reached the end of the list, and its responses do not contradict each other. */
  readonly complete: boolean;
  /**
   * The walk had one page. A start after an expired token does not count alone: the walk read the list at two moments,
   * so that it is confirmed as any walk of several pages is.
   */
  readonly onePage: boolean;
  readonly failed: boolean;
  readonly at: number;
}

let lists = 0;

/** A list of an upstream that changes while it is read. */
export class MovingList {
  /** A subnet has one id in all networks, so that each list has ids of its own. */
  readonly network = `moving-${++lists}`;
  readonly of: ListCase['of'];
  readonly #case: Pick<ListCase, 'tokens' | 'pageSize'>;
  #list: number[];
  #walk: WalkCase = { before: [], between: [], expiredCall: null, hasTotal: false };
  #calls = 0;
  #throughout = new Set<number>();
  #shownMembers = new Set<number>();
  /** The pages since the last call without a token. */
  #start: { readonly members: readonly number[]; readonly total: number }[] = [];
  #pages = 0;
  #contradicts = false;

  constructor(list: Omit<ListCase, 'of' | 'walks'>, of: ListCase['of'] = 'subnets') {
    this.of = of;
    this.#case = list;
    this.#list = [...new Set(list.members)];
    this.#sort();
  }

  start(walk: WalkCase): void {
    this.#walk = walk;
    this.#calls = 0;
    this.#throughout = new Set(this.#list);
    this.#shownMembers = new Set();
    this.#start = [];
    this.#pages = 0;
    this.#contradicts = false;
    this.#change(walk.before);
  }

  /** Returns what the walk read. @param ended it did not fail */
  end(ended: boolean, at: number): ObservedList {
    const items = this.#start.reduce((sum, { members }) => sum + members.length, 0);
    const hasWrongTotal = this.#walk.hasTotal && this.#start.some(({ total }) => total !== items);
    return {
      throughout: this.#throughout,
      shownMembers: this.#shownMembers,
      complete: ended && !this.#contradicts && !hasWrongTotal,
      onePage: this.#pages === 1,
      failed: !ended,
      at,
    };
  }

  /** Responds to a call for a page. @throws UpstreamFailure if its token is expired */
  readonly answer = (token: unknown): unknown => {
    if (this.#calls > 0) this.#change(this.#walk.between[this.#calls - 1] ?? []);
    this.#calls += 1;
    if (token === undefined) this.#start = [];
    else if (this.#walk.expiredCall === this.#calls)
      throw new UpstreamFailure('bad-request', 'Invalid or expired page token');
    const from = this.#placeOf(token);
    const members = this.#list.slice(from, from + this.#case.pageSize);
    const before = new Set(this.#start.flatMap((page) => page.members));
    for (const member of members) {
      if (before.has(member)) this.#contradicts = true;
      this.#shownMembers.add(member);
    }
    this.#start.push({ members, total: this.#list.length });
    this.#pages += 1;
    const end = from + members.length;
    const next = this.#case.tokens === 'offset' ? end : (members.at(-1) ?? token);
    return {
      subnets: members.map((member) => ({ subnetId: this.nameOf(member) })),
      pendingRewards: members.map((member) => ({
        txHash: this.nameOf(member),
        rewardType: 'DELEGATOR',
        endTimestamp: Number.isFinite(this.endOf(member)) ? this.endOf(member) / 1000 : null,
      })),
      ...(this.#walk.hasTotal && { total: this.#list.length }),
      ...(end < this.#list.length && { nextPageToken: `${String(next)}/${this.#calls}` }),
    };
  };

  nameOf(member: number): string {
    return `${this.network}-s${member}`;
  }

  /** The end of a member, in ms since 1970: before the first walk, between two walks, or never (Infinity). */
  endOf(member: number): number {
    const minutes = member % 5;
    return this.of === 'subnets' || minutes === 4 ? Infinity : START + (minutes + 0.5) * MINUTE;
  }

  #placeOf(token: unknown): number {
    if (token === undefined) return 0;
    const last = Number(String(token).split('/')[0]);
    if (this.#case.tokens === 'offset') return last;
    const index = this.#list.findIndex((member) => member > last);
    return index < 0 ? this.#list.length : index;
  }

  #change(changes: readonly Change[]): void {
    for (const change of changes) {
      const at = (place: number) => place % Math.max(1, this.#list.length);
      if (change.kind === 'insert' && !this.#list.includes(change.member))
        this.#list.splice(at(change.place), 0, change.member);
      if (change.kind === 'remove') this.#list.splice(at(change.place), 1);
      if (change.kind === 'move')
        this.#list.splice(at(change.to), 0, ...this.#list.splice(at(change.from), 1));
      this.#sort();
      for (const member of this.#throughout)
        if (!this.#list.includes(member)) this.#throughout.delete(member);
    }
  }

  /** A list with keyset tokens has a fixed order. */
  #sort(): void {
    if (this.#case.tokens === 'keyset') this.#list.sort((one, other) => one - other);
  }
}

const feeds = {
  subnets: withDefaultSettings({ source: subnetList, datasets: [subnets] }, []),
  pending_rewards: withDefaultSettings({ source: pendingRewardList, datasets: [pendingRewards] }, []),
};
const ids = { subnets: 'subnet_id', pending_rewards: 'tx_hash' };

/** Records a changing list by the source of its dataset. */
export function createMovingListRecorder(sql: postgres.Sql, list: MovingList, pageSize: number) {
  const { network, of } = list;
  const feed = feeds[of];
  const target = { network, ...(of === 'pending_rewards' && { addresses: 'any', nodeIds: '' }) };
  const clock = new ManualClock(START);
  const context = recordingContext(sql, clock.read, {
    get: async (_path, query) => list.answer(query?.pageToken),
    pageSize: () => pageSize,
  });
  return {
    network,
    async walk(walk: WalkCase) {
      list.start(walk);
      clock.now += MINUTE;
      const job = { target, window: null, reason: 'poll' as const };
      const result = await record(context, feed, job, new AbortController().signal);
      if (typeof result === 'string') throw new Error(`the run was ${result}`);
      return { result, observed: list.end(result.status !== 'failed', clock.now) };
    },
    /** The end of each member's newest version, in ms; null: it is current. */
    async members(): Promise<Map<number, number | null>> {
      const rows = await sql<{ id: string; ended: Date | null }[]>`
        select distinct on (id) ${sql(ids[of])} as id, valid_to as ended from recorder.${sql(of)}
        where network = ${network} order by id, valid_from desc`;
      return new Map(
        rows.map(({ id, ended }) => [Number(id.slice(network.length + 2)), ended?.getTime() ?? null]),
      );
    },
    async freshness() {
      const key = `network=${network}`;
      await sql`update recorder.target_datasets set active = true where dataset = 'subnets' and target_key = ${key}`;
      const [row] = await sql<{ reason: string | null; complete: boolean; unconfirmed: number }[]>`
        select reason, last_complete_at = last_success_at as complete, unconfirmed_departures as unconfirmed
        from reporting.freshness where dataset = 'subnets' and target = ${key}`;
      return row;
    },
  };
}

const member = fc.nat({ max: 15 });
const place = fc.nat({ max: 15 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), member, place }),
  fc.record({ kind: fc.constant('remove' as const), place }),
  fc.record({ kind: fc.constant('move' as const), from: place, to: place }),
);
const walkCase: fc.Arbitrary<WalkCase> = fc.record({
  before: fc.array(change, { maxLength: 3 }),
  between: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 4 }),
  expiredCall: fc.option(fc.integer({ min: 2, max: 5 }), { freq: 3 }),
  hasTotal: fc.boolean(),
});
const listCase: fc.Arbitrary<ListCase> = fc.record({
  of: fc.constantFrom('subnets', 'pending_rewards'),
  tokens: fc.constantFrom('offset', 'keyset'),
  pageSize: fc.integer({ min: 1, max: 6 }),
  members: fc.uniqueArray(member, { maxLength: 14 }),
  walks: fc.array(walkCase, { minLength: 2, maxLength: 5 }),
});

/** Number of cases that tested each property: a run that tests nothing fails. */
export interface TestedCases {
  kept: number;
  keptByKeyset: number;
  retired: number;
  retiredAtEnd: number;
  retiredByOnePage: number;
  contradicted: number;
}

/** Cases whose walks run concurrently. */
const CONCURRENT_CASES = 20;
/** Number of groups of concurrent cases between two vacuums. */
const VACUUM_INTERVAL = 10;

/**
 * Checks random lists that change while they are read.
 * @param cases their number, a multiple of 20 @param replay the seed and path of a failure. Default: a new seed
 */
export async function checkMovingLists(
  sql: postgres.Sql,
  cases: number,
  replay: { readonly seed?: number; readonly path?: string } = {},
): Promise<TestedCases> {
  const stakes: TestedCases = {
    kept: 0,
    keptByKeyset: 0,
    retired: 0,
    retiredAtEnd: 0,
    retiredByOnePage: 0,
    contradicted: 0,
  };
  let groups = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(listCase, { minLength: CONCURRENT_CASES, maxLength: CONCURRENT_CASES }),
      async (listCases) => {
        // Autovacuum is off in tests. Without it, commits read the members and runs of all earlier lists.
        if (groups++ % VACUUM_INTERVAL === VACUUM_INTERVAL / 2)
          await sql`vacuum analyze recorder.subnets, recorder.pending_rewards, recorder.target_datasets, recorder.targets, recorder.runs`;
        await Promise.all(
          listCases.map((one) =>
            checkList(sql, one, stakes).catch((error: unknown) => {
              throw new Error(`the case ${JSON.stringify(one)}: ${toErrorMessage(error)}`);
            }),
          ),
        );
      },
    ),
    { numRuns: cases / CONCURRENT_CASES, endOnFailure: true, ...replay },
  );
  return stakes;
}

async function checkList(sql: postgres.Sql, one: ListCase, stakes: TestedCases): Promise<void> {
  const list = new MovingList(one, one.of);
  const recorder = createMovingListRecorder(sql, list, one.pageSize);
  const walks: ObservedList[] = [];
  let before = new Map<number, number | null>();
  for (const walk of one.walks) {
    const { result, observed } = await recorder.walk(walk);
    walks.push(observed);
    const members = await recorder.members();
    const isCurrent = (member: number) => members.get(member) === null;
    const last = walks.at(-2);
    const lastPollAt = walks.findLast((walk) => walk !== observed && !walk.failed)?.at ?? 0;
    // The member had an end that passed since the last poll.
    const endedSincePoll = (member: number) =>
      list.endOf(member) > lastPollAt && list.endOf(member) <= observed.at;
    for (const member of observed.throughout) {
      const wasShownLately = observed.shownMembers.has(member) || last?.shownMembers.has(member);
      // Listed during both walks, and shown by one of them.
      const isShown = observed.shownMembers.has(member) || !endedSincePoll(member);
      if (wasShownLately && isShown && (last?.throughout.has(member) ?? true)) {
        stakes.kept += 1;
        expect(isCurrent(member), `s${member} is listed, and was shown by one of two walks`).toBe(true);
      }
      if (one.tokens === 'keyset' && before.get(member) === null) {
        stakes.keptByKeyset += 1;
        expect(isCurrent(member), `s${member} is listed, and tokens are keys`).toBe(true);
      }
    }
    for (const [member, ended] of members) {
      const missed = missedSince(walks, member);
      const byOnePage = missed[0] === observed && observed.onePage && !isShrink(before, observed);
      const byItsEnd = missed[0] === observed && endedSincePoll(member);
      if (missed.length >= 2 || byOnePage || byItsEnd) {
        stakes.retired += 1;
        if (byItsEnd) stakes.retiredAtEnd += 1;
        else if (byOnePage) stakes.retiredByOnePage += 1;
        expect(ended, `s${member} ended at the first walk that missed it`).toBe(missed[0]?.at);
      } else if (missed.length === 0 && before.get(member) === null)
        expect(isCurrent(member), `s${member} was missed by no complete walk`).toBe(true);
    }
    if (!observed.complete) {
      stakes.contradicted += 1;
      expect(result.status).not.toBe('done');
      for (const [member, ended] of before)
        if (ended === null) expect(isCurrent(member), 'an incomplete walk retires no member').toBe(true);
    }
    before = members;
  }
}

/** The complete walks since a member was last shown. */
function missedSince(walks: readonly ObservedList[], member: number): ObservedList[] {
  const lastShown = walks.findLastIndex(({ shownMembers }) => shownMembers.has(member));
  return walks.slice(lastShown + 1).filter(({ complete }) => complete);
}

function isShrink(before: ReadonlyMap<number, number | null>, { shownMembers }: ObservedList): boolean {
  const current = [...before].filter(([, ended]) => ended === null);
  return current.filter(([member]) => !shownMembers.has(member)).length * 2 > current.length;
}
