import { release } from '../../../sandbox/node/releases.ts';
import { isConnected, observedUptime } from '../../../sandbox/node/validator-records.ts';
import { between, unit } from '../../../sandbox/random.ts';
import { avax, quotient, scaled, units } from '../decimals.ts';
import { NODES } from '../world.ts';
import { income } from './income.ts';
import { l1s } from './l1s.ts';
import {
  type Answers,
  DAY,
  delegated,
  delegations,
  floored,
  iso,
  Question,
  type Row,
  SECOND,
} from './question.ts';

const MAX_STAKE = 3_000_000n * 10n ** 9n;

/** Expected results about the user's validators. */
export const mine: Answers = {
  my_validators: (asked) => {
    const { watch } = asked.world.recorder.config;
    const named = new Map(NODES.map((name) => [asked.node(name).identity.nodeId, name]));
    const network = networkVersion(asked);
    const l1Rows = l1s.l1_runway?.(new Question(asked.world, { as_of: iso(asked.asOf) })) ?? [];
    return [...new Set([...watch.nodeIds, ...named.keys()])]
      .filter((id) => id === (asked.given('node_id') ?? id))
      .map((nodeId) => {
        const node = named.get(nodeId) ?? null;
        const stake = staked(asked, nodeId);
        const version = node === null ? peerVersion(asked, nodeId) : release(asked.node(node), sec(asked));
        return {
          node_id: nodeId,
          node,
          state: null,
          node_uptime: null,
          // A node that does not validate has no result of info.uptime.
          rewarding_stake: node === null || stake.stake_avax === null ? null : rewardingStake(asked, node),
          ...stake,
          rewards_received_avax: received(asked, nodeId),
          ...blocks(asked, nodeId),
          version: version === null ? null : `avalanchego/${version}`,
          network_version: `avalanchego/${network}`,
          is_outdated: version === null ? null : numberOf(version) < numberOf(network),
          ...balance(
            asked,
            l1Rows.filter((row) => row.node_id === nodeId),
          ),
        };
      });
  },
};

const sec = (asked: Question) => asked.lastLook / SECOND;

/** Returns a release as a comparable number. */
const numberOf = (version: string) => version.split('.').reduce((all, part) => all * 1000 + Number(part), 0);

/** The columns derived from the stake, and from the reports of the configured nodes. */
function staked(asked: Question, nodeId: string): Row {
  const look = asked.lastLook;
  const stake = asked.validators(look).find(({ node }) => node.nodeId === nodeId);
  if (!stake)
    return { uptime: null, uptime_seen_by: null, stake_avax: null, end_time: null, free_capacity_avax: null };
  const { network } = asked.world.sandbox;
  const views = NODES.map((name) => asked.node(name)).map((viewer) => ({
    name: viewer.name,
    own: viewer.identity.nodeId === nodeId,
    uptime: units(observedUptime(viewer, stake.node.seat, sec(asked)).toFixed(4), 4),
  }));
  const others = views.filter(({ own }) => !own);
  const [lowest] = (others.length > 0 ? others : views).toSorted((a, b) => (a.uptime < b.uptime ? -1 : 1));
  if (!lowest) throw new Error('no node sees the validator');
  const threshold = units(asked.given('threshold') ?? '80', 4);
  const given = delegated(stake, look);
  const capacity = 5n * stake.weight < MAX_STAKE ? 5n * stake.weight : MAX_STAKE;
  const free = capacity - stake.weight - given;
  const accrued = between(
    network.seed,
    0,
    9_999_999_999,
    stake.node.seat,
    Math.floor(sec(asked) / 86_400),
    55,
  );
  const left =
    BigInt(stake.end - stake.start) * (1_000_000n - threshold) -
    BigInt(sec(asked) - stake.start) * (1_000_000n - lowest.uptime);
  return {
    uptime: scaled(lowest.uptime, 4),
    uptime_seen_by: lowest.name,
    threshold: scaled(threshold, 4),
    downtime_left_minutes: String(floored(left, 60_000_000n)),
    stake_avax: avax(stake.weight),
    delegated_avax: avax(given),
    delegations: String(delegations(stake, look).length),
    free_capacity_avax: avax(free > 0n ? free : 0n),
    end_time: iso(stake.end * SECOND),
    days_left: quotient(BigInt(stake.end * SECOND - asked.asOf), BigInt(DAY), 4),
    reward_expected_avax: avax(stake.potentialReward + BigInt(accrued)),
  };
}

function rewardingStake(asked: Question, name: string): string {
  const share = 97 + 3 * unit(asked.node(name).seed, Math.floor(asked.lastLook / 600_000), 77);
  return scaled(units(share.toFixed(4), 4), 4);
}

function received(asked: Question, nodeId: string): string {
  const own = asked
    .knownRewards()
    .receipts()
    .filter(
      ({ stake, type, at }) => stake.node.nodeId === nodeId && type !== 'DELEGATOR' && at <= asked.asOf,
    );
  return avax(own.reduce((sum, { amount }) => sum + amount, 0n));
}

function blocks(asked: Question, nodeId: string): Row {
  const midnight = asked.asOf - (asked.asOf % DAY);
  const week = {
    from: iso(midnight - 6 * DAY),
    to: iso(asked.asOf),
    as_of: iso(asked.asOf),
    node_id: nodeId,
  };
  const rows = income.blocks_proposed?.(new Question(asked.world, week)) ?? [];
  const known = rows.filter(({ expected_blocks }) => expected_blocks !== null);
  const sum = (column: string) => known.reduce((all, row) => all + units(String(row[column]), 4), 0n);
  return {
    blocks_7d: scaled(sum('blocks'), 4),
    expected_blocks_7d: known.length === 0 ? null : scaled(sum('expected_blocks'), 4),
  };
}

/** The peers of a configured node, by node id, with their release. */
function peers(asked: Question): Map<string, string> {
  const { network } = asked.world.sandbox;
  const found = NODES.map((name) => asked.node(name)).flatMap((viewer) =>
    network.validators.nodes
      .filter(({ seat }) => seat !== viewer.identity.seat && isConnected(viewer, seat, sec(asked)))
      .map(({ nodeId, seat }) => [nodeId, release(viewer, sec(asked), seat)] as const),
  );
  return new Map(found);
}

const peerVersion = (asked: Question, nodeId: string) => peers(asked).get(nodeId) ?? null;

function networkVersion(asked: Question): string {
  const stakes = new Map(
    asked
      .validators(asked.lastLook)
      .map((stake) => [stake.node.nodeId, stake.weight + delegated(stake, asked.lastLook)]),
  );
  const weights = new Map<string, bigint>();
  for (const [nodeId, version] of peers(asked))
    weights.set(version, (weights.get(version) ?? 0n) + (stakes.get(nodeId) ?? 0n));
  const [most] = [...weights].toSorted(([, a], [, b]) => (a > b ? -1 : 1));
  return most?.[0] ?? '';
}

function balance(asked: Question, rows: readonly Row[]): Row {
  const end = ({ runs_dry_at: at }: Row) => (at ? Date.parse(String(at)) : Number.POSITIVE_INFINITY);
  const [first] = rows.toSorted(
    (a, b) => end(a) - end(b) || (BigInt(String(a.balance)) < BigInt(String(b.balance)) ? -1 : 1),
  );
  return {
    l1_validations: String(rows.length),
    l1_subnet_id: first?.subnet_id ?? null,
    l1_balance_avax: first?.balance_avax ?? null,
    l1_days_left: first?.runs_dry_at ? quotient(BigInt(end(first) - asked.asOf), BigInt(DAY), 4) : null,
  };
}
