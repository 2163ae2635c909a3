import type { Chance } from '../chance.ts';
import type { Validators } from './validators.ts';

/** Seconds. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Mean interval of releases, and mean delay of a peer's update. */
const RELEASES = 45 * DAY;
const UPDATES = 7 * DAY;
/** Maximum interval of pings. */
const PING = 22;

/** A node that another one may be connected to. */
interface Peer {
  readonly nodeId: string;
  readonly host: string;
  readonly inbound: boolean;
  readonly tracked: readonly string[];
  readonly validator: { readonly online: boolean } | null;
  online: boolean;
  turns: number;
  port: number;
  release: number;
  updates: number;
  observedUptime: number;
  benchedUntil: number;
}

/** The peers of one node: they join and leave, are updated, and report their view of the node. */
export class Peers {
  readonly #chance: Chance;
  readonly #validators: Validators;
  readonly #others: number;
  readonly #subnets: readonly string[];
  readonly #peers = new Map<string, Peer>();
  readonly #startedAt: number;
  #now: number;

  /** @param count mean number of connected peers */
  constructor(chance: Chance, validators: Validators, count: number, now: number) {
    this.#chance = chance;
    this.#validators = validators;
    this.#others = Math.max(count - validators.all.length, 0);
    this.#subnets = Array.from({ length: 40 }, () => chance.id());
    this.#startedAt = now;
    this.#now = now;
    this.#syncValidators();
    // One in six of the others is disconnected at a time.
    for (let n = 0; n < this.#others * 1.2; n++) this.#addPeer(chance.nodeId(), null);
  }

  /** Advances the peers to a time, in seconds since 1970. */
  advance(to: number): void {
    const chance = this.#chance;
    const days = (to - this.#now) / DAY;
    this.#now = to;
    this.#syncValidators();
    const newest = this.#newest(to);
    for (const one of this.#peers.values()) {
      const online = one.validator ? one.validator.online : one.online;
      while (one.turns <= to) {
        one.online = !one.online;
        one.turns += chance.waiting(one.online ? 5 * DAY : DAY);
      }
      if (one.validator) one.online = online;
      if (one.updates <= to) {
        one.release = newest;
        one.updates = this.#startedAt + (newest + 1) * RELEASES + chance.waiting(UPDATES);
      }
    }
    const some = [...this.#peers.values()];
    for (let remaining = chance.times(some.length * days * 0.02); remaining > 0; remaining--) {
      const one = some[chance.between(0, some.length - 1)];
      if (one) one.benchedUntil = to + chance.between(5 * MINUTE, 15 * MINUTE);
    }
    for (let remaining = chance.times(some.length * days * 0.05); remaining > 0; remaining--) {
      const one = some[chance.between(0, some.length - 1)];
      if (one?.validator)
        one.observedUptime = Math.min(
          100,
          Math.max(95, one.observedUptime + (chance.share() < 0.5 ? 1 : -1)),
        );
      else if (one) this.#peers.delete(one.nodeId);
      if (one && !one.validator) this.#addPeer(chance.nodeId(), null);
    }
  }

  #newest(now: number): number {
    return Math.floor((now - this.#startedAt) / RELEASES);
  }

  /** Adds the joined validators, and removes those that left. */
  #syncValidators(): void {
    const current = new Set(this.#validators.all.map(({ nodeId }) => nodeId));
    for (const one of this.#peers.values())
      if (one.validator && !current.has(one.nodeId)) this.#peers.delete(one.nodeId);
    for (const one of this.#validators.all) if (!this.#peers.has(one.nodeId)) this.#addPeer(one.nodeId, one);
  }

  #addPeer(nodeId: string, validator: Peer['validator']): void {
    const chance = this.#chance;
    const online = chance.share() < 5 / 6;
    this.#peers.set(nodeId, {
      nodeId,
      host: Array.from({ length: 4 }, () => chance.between(1, 254)).join('.'),
      inbound: chance.share() < 0.5,
      tracked: this.#subnets.filter(() => chance.share() < 0.03),
      validator,
      online,
      turns: this.#now + chance.waiting(online ? 5 * DAY : DAY),
      port: chance.between(32_768, 60_999),
      release: this.#newest(this.#now),
      updates: this.#startedAt + (this.#newest(this.#now) + 1) * RELEASES + chance.waiting(UPDATES),
      observedUptime: validator ? chance.between(97, 100) : 0,
      benchedUntil: 0,
    });
  }

  /** `info.peers` at a time: those that are connected. */
  answer(now: number): unknown {
    const peers = [...this.#peers.values()].flatMap((one) =>
      isConnected(one) ? [this.#peerReport(one, now)] : [],
    );
    return { numPeers: String(peers.length), peers };
  }

  #peerReport(one: Peer, now: number) {
    // Validators receive every vote; others may receive nothing between two pings.
    const silence = () =>
      Math.floor(one.validator ? Math.min(this.#chance.waiting(1.5), PING) : this.#chance.share() * PING);
    return {
      ip: one.inbound ? `${one.host}:${one.port}` : `${one.host}:9651`,
      publicIP: `${one.host}:9651`,
      nodeID: one.nodeId,
      version: `avalanchego/1.14.${one.release}`,
      upgradeTime: 1_763_568_000,
      lastSent: instant(now - silence()),
      lastReceived: instant(now - silence()),
      observedUptime: String(one.observedUptime),
      trackedSubnets: one.tracked,
      supportedACPs: [],
      objectedACPs: [],
      benched: one.benchedUntil > now ? ['X'] : [],
    };
  }
}

const isConnected = ({ validator, online }: Peer) => (validator ? validator.online : online);

const instant = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
