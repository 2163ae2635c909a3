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
  my_validators: (question) => {
    const { watch } = question.world.recorder.config;
    const named = new Map(NODES.map((name) => [question.node(name).identity.nodeId, name]));
    const network = networkVersion(question);
    const l1Rows = l1s.l1_runway?.(new Question(question.world, { as_of: iso(question.asOf) })) ?? [];
    return [...new Set([...watch.nodeIds, ...named.keys()])]
      .filter((id) => id === (question.parameter('node_id') ?? id))
      .map((nodeId) => {
        const node = named.get(nodeId) ?? null;
        const stake = stakeColumns(question, nodeId);
        const version =
          node === null ? peerVersion(question, nodeId) : release(question.node(node), sec(question));
        return {
          node_id: nodeId,
          node,
          state: null,
          node_uptime: null,
          // A node that does not validate has no result of info.uptime.
          rewarding_stake: node === null || stake.stake_avax === null ? null : rewardingStake(question, node),
          ...stake,
          rewards_received_avax: receivedRewards(question, nodeId),
          ...blocks(question, nodeId),
          version: version === null ? null : `avalanchego/${version}`,
          network_version: `avalanchego/${network}`,
          is_outdated: version === null ? null : numberOf(version) < numberOf(network),
          ...balance(
            question,
            l1Rows.filter((row) => row.node_id === nodeId),
          ),
        };
      });
  },
};

const sec = (question: Question) => question.lastPoll / SECOND;

/** Returns a release as a comparable number. */
const numberOf = (version: string) => version.split('.').reduce((all, part) => all * 1000 + Number(part), 0);

/** The columns derived from the stake, and from the reports of the configured nodes. */
function stakeColumns(question: Question, nodeId: string): Row {
  const polledAt = question.lastPoll;
  const stake = question.validators(polledAt).find(({ node }) => node.nodeId === nodeId);
  if (!stake)
    return { uptime: null, uptime_seen_by: null, stake_avax: null, end_time: null, free_capacity_avax: null };
  const { network } = question.world.sandbox;
  const views = NODES.map((name) => question.node(name)).map((viewer) => ({
    name: viewer.name,
    own: viewer.identity.nodeId === nodeId,
    uptime: units(observedUptime(viewer, stake.node.seat, sec(question)).toFixed(4), 4),
  }));
  const others = views.filter(({ own }) => !own);
  const [lowest] = (others.length > 0 ? others : views).toSorted((a, b) => (a.uptime < b.uptime ? -1 : 1));
  if (!lowest) throw new Error('no node sees the validator');
  const threshold = units(question.parameter('threshold') ?? '80', 4);
  const delegatedStake = delegated(stake, polledAt);
  const capacity = 5n * stake.weight < MAX_STAKE ? 5n * stake.weight : MAX_STAKE;
  const free = capacity - stake.weight - delegatedStake;
  const accrued = between(
    network.seed,
    0,
    9_999_999_999,
    stake.node.seat,
    Math.floor(sec(question) / 86_400),
    55,
  );
  const remaining =
    BigInt(stake.end - stake.start) * (1_000_000n - threshold) -
    BigInt(sec(question) - stake.start) * (1_000_000n - lowest.uptime);
  return {
    uptime: scaled(lowest.uptime, 4),
    uptime_seen_by: lowest.name,
    threshold: scaled(threshold, 4),
    downtime_left_minutes: String(floored(remaining, 60_000_000n)),
    stake_avax: avax(stake.weight),
    delegated_avax: avax(delegatedStake),
    delegations: String(delegations(stake, polledAt).length),
    free_capacity_avax: avax(free > 0n ? free : 0n),
    end_time: iso(stake.end * SECOND),
    days_left: quotient(BigInt(stake.end * SECOND - question.asOf), BigInt(DAY), 4),
    reward_expected_avax: avax(stake.potentialReward + BigInt(accrued)),
  };
}

function rewardingStake(question: Question, name: string): string {
  const share = 97 + 3 * unit(question.node(name).seed, Math.floor(question.lastPoll / 600_000), 77);
  return scaled(units(share.toFixed(4), 4), 4);
}

function receivedRewards(question: Question, nodeId: string): string {
  const own = question
    .knownRewards()
    .receipts()
    .filter(
      ({ stake, type, at }) => stake.node.nodeId === nodeId && type !== 'DELEGATOR' && at <= question.asOf,
    );
  return avax(own.reduce((sum, { amount }) => sum + amount, 0n));
}

function blocks(question: Question, nodeId: string): Row {
  const midnight = question.asOf - (question.asOf % DAY);
  const week = {
    from: iso(midnight - 6 * DAY),
    to: iso(question.asOf),
    as_of: iso(question.asOf),
    node_id: nodeId,
  };
  const rows = income.blocks_proposed?.(new Question(question.world, week)) ?? [];
  const withExpectation = rows.filter(({ expected_blocks }) => expected_blocks !== null);
  const sum = (column: string) =>
    withExpectation.reduce((all, row) => all + units(String(row[column]), 4), 0n);
  return {
    blocks_7d: scaled(sum('blocks'), 4),
    expected_blocks_7d: withExpectation.length === 0 ? null : scaled(sum('expected_blocks'), 4),
  };
}

/** The peers of a configured node, by node id, with their release. */
function peers(question: Question): Map<string, string> {
  const { network } = question.world.sandbox;
  const found = NODES.map((name) => question.node(name)).flatMap((viewer) =>
    network.validators.nodes
      .filter(({ seat }) => seat !== viewer.identity.seat && isConnected(viewer, seat, sec(question)))
      .map(({ nodeId, seat }) => [nodeId, release(viewer, sec(question), seat)] as const),
  );
  return new Map(found);
}

const peerVersion = (question: Question, nodeId: string) => peers(question).get(nodeId) ?? null;

function networkVersion(question: Question): string {
  const stakes = new Map(
    question
      .validators(question.lastPoll)
      .map((stake) => [stake.node.nodeId, stake.weight + delegated(stake, question.lastPoll)]),
  );
  const weights = new Map<string, bigint>();
  for (const [nodeId, version] of peers(question))
    weights.set(version, (weights.get(version) ?? 0n) + (stakes.get(nodeId) ?? 0n));
  const [heaviest] = [...weights].toSorted(([, a], [, b]) => (a > b ? -1 : 1));
  return heaviest?.[0] ?? '';
}

function balance(question: Question, rows: readonly Row[]): Row {
  const end = ({ runs_dry_at: at }: Row) => (at ? Date.parse(String(at)) : Number.POSITIVE_INFINITY);
  const [first] = rows.toSorted(
    (a, b) => end(a) - end(b) || (BigInt(String(a.balance)) < BigInt(String(b.balance)) ? -1 : 1),
  );
  return {
    l1_validations: String(rows.length),
    l1_subnet_id: first?.subnet_id ?? null,
    l1_balance_avax: first?.balance_avax ?? null,
    l1_days_left: first?.runs_dry_at ? quotient(BigInt(end(first) - question.asOf), BigInt(DAY), 4) : null,
  };
}
