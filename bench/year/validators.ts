import type { Chance } from '../chance.ts';

/** Seconds. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Statistics of 32 days of the main network (2026-04, some 690 validators): 16 a day join and 16 leave, 111 a day have
 * another weight of delegations than the day before, few of them several times a day.
 */
const TURNOVER = 16 / 690;
const DELEGATIONS = 220 / 900;
const STEEP = 0.8;

/** A validator of the simulated network; times in seconds since 1970, amounts in nAVAX. */
export interface Validator {
  readonly nodeId: string;
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly fixed: Readonly<Record<string, unknown>>;
  /** Seconds between two of its outages, and how long one lasts; on average. */
  readonly lasts: number;
  readonly outage: number;
  online: boolean;
  /** Time of its next departure or return. */
  turns: number;
  /** Seconds that it was online since its start, up to `counted`. */
  up: number;
  counted: number;
  delegators: number;
  delegated: bigint;
  accrued: bigint;
}

/** The validators of the primary network: they join, leave, are online or not, and have delegators. */
export class Validators {
  readonly #chance: Chance;
  readonly #count: number;
  readonly all: Validator[] = [];
  #created = 0;
  #now: number;
  /** In nAVAX; grows with every reward. */
  supply = 460_000_000_000_000_000n;

  constructor(chance: Chance, count: number, now: number) {
    this.#chance = chance;
    this.#count = count;
    this.#now = now;
    for (let n = 0; n < count; n++) this.#join(now - Math.floor(chance.share() * 300 * DAY));
  }

  /** Advances the network to a time, in seconds since 1970. */
  advance(to: number): void {
    const days = (to - this.#now) / DAY;
    this.#now = to;
    for (const one of this.all) this.#turn(one, to);
    for (let remaining = this.#chance.times(this.#count * TURNOVER * days); remaining > 0; remaining--) {
      this.all.splice(this.#chance.between(0, this.all.length - 1), 1);
      this.#join(to);
      this.supply += BigInt(this.#chance.between(1, 40_000_000_000));
    }
    for (let remaining = this.#chance.times(this.#count * DELEGATIONS * days); remaining > 0; remaining--)
      this.#delegate();
  }

  #join(start: number): void {
    const chance = this.#chance;
    const luck = chance.share();
    const [lasts, outage] =
      luck < 0.9 ? [12 * DAY, 15 * MINUTE] : luck < 0.98 ? [12 * HOUR, HOUR] : [DAY, 5 * DAY];
    const owner = { locktime: '0', threshold: '1', addresses: [chance.address()] };
    const onlineShare = lasts / (lasts + outage);
    const now = Math.max(start, this.#now);
    const online = chance.share() < onlineShare;
    const delegators = Math.floor(chance.share() ** 4 * 300);
    this.all.push({
      nodeId: chance.nodeId(),
      number: this.#created++,
      start,
      end: start + chance.between(14, 365) * DAY,
      fixed: {
        txID: chance.id(),
        weight: String(BigInt(chance.between(2_000, 2_900_000)) * 1_000_000_000n),
        validationRewardOwner: owner,
        delegationRewardOwner: owner,
        potentialReward: String(chance.between(1_000_000_000, 200_000_000_000_000)),
        delegationFee: (chance.between(20, 200) / 10).toFixed(4),
        signer: { publicKey: chance.hex(48), proofOfPossession: chance.hex(96) },
      },
      lasts,
      outage,
      online,
      turns: now + chance.waiting(online ? lasts : outage),
      up: (now - start) * (1 - (1 - onlineShare) * chance.share() * 2),
      counted: now,
      delegators,
      delegated: BigInt(delegators) * BigInt(chance.between(25, 5_000)) * 1_000_000_000n,
      accrued: BigInt(chance.between(0, 40_000_000_000)),
    });
  }

  #turn(one: Validator, to: number): void {
    while (one.turns <= to) {
      if (one.online) one.up += one.turns - one.counted;
      one.counted = one.turns;
      one.online = !one.online;
      one.turns += this.#chance.waiting(one.online ? one.lasts : one.outage);
    }
    if (one.online) one.up += to - one.counted;
    one.counted = to;
  }

  /** A delegation starts, or one ends and its fee is earned. Few validators have most of them. */
  #delegate(): void {
    const chance = this.#chance;
    const place = Math.floor(this.#count * chance.share() ** (1 / (1 - STEEP)));
    const one = this.all[Math.min(place, this.all.length - 1)];
    if (!one) return;
    const amount = BigInt(chance.between(25_000, 9_000_000)) * 1_000_000n;
    if (chance.share() < 0.5 || one.delegators === 0 || one.delegated < amount) {
      one.delegators += 1;
      one.delegated += amount;
    } else {
      one.delegators -= 1;
      one.delegated -= amount;
      one.accrued += amount / 500n;
      this.supply += amount / 50n;
    }
  }

  /** The response of one node to `platform.getCurrentValidators` at a time. @param viewer the node's number */
  answer(viewer: number, now: number): unknown {
    return {
      validators: this.all.map((one) => ({
        ...one.fixed,
        nodeID: one.nodeId,
        startTime: String(one.start),
        endTime: String(one.end),
        accruedDelegateeReward: String(one.accrued),
        uptime: uptime(one, viewer, now),
        connected: one.online,
        delegatorCount: String(one.delegators),
        delegatorWeight: String(one.delegated),
      })),
    };
  }
}

/**
 * In percent, of the time since the validation started, four decimals. The downtime that a node itself missed differs
 * by node.
 */
function uptime({ up, online, start, counted, number }: Validator, viewer: number, now: number): string {
  const missed = ((number * 7919 + viewer * 104_729) % 997) * 2;
  const secondsOnline = Math.floor(up + (online ? now - counted : 0)) - missed;
  return Math.fround((Math.max(secondsOnline, 0) * 100) / Math.max(now - start, 1)).toFixed(4);
}
