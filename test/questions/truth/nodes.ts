import { release } from '../../../sandbox/node/releases.ts';
import { isConnected, observedUptime } from '../../../sandbox/node/validator-records.ts';
import { between, unit } from '../../../sandbox/random.ts';
import { avax, plain, quotient, scaled, units } from '../decimals.ts';
import { NODES } from '../world.ts';
import { type Answers, DAY, dayOf, delegated, floored, inAvax, iso, lowest, SECOND } from './question.ts';

/** Expected results about uptime, versions, fees and supply. */
export const nodes: Answers = {
  validator_uptime_seen: (question) => {
    const { network, nodes } = question.world.sandbox;
    const viewers = NODES.map((name) => nodes.find((node) => node.name === name)).filter((node) => !!node);
    const requestedNode = question.parameter('node_id');
    const nodeIds =
      requestedNode === undefined ? viewers.map(({ identity }) => identity.nodeId) : [requestedNode];
    const threshold = question.parameter('threshold') ?? '80';
    return nodeIds.flatMap((nodeId) =>
      viewers.flatMap((viewer) => {
        const readings = question.polls
          .filter((polledAt) => polledAt >= question.from && polledAt < question.to)
          .flatMap((polledAt) => {
            const stake = question.validators(polledAt).find(({ node }) => node.nodeId === nodeId);
            const seat = network.validators.node(nodeId)?.seat ?? -1;
            const uptime = units(observedUptime(viewer, seat, polledAt / SECOND).toFixed(4), 4);
            return stake
              ? [{ polledAt, stake, uptime, connected: isConnected(viewer, seat, polledAt / SECOND) }]
              : [];
          });
        const last = readings.at(-1);
        if (!last) return [];
        const [start, end] = [last.stake.start, last.stake.end];
        const needed = units(threshold, 4);
        const remaining =
          BigInt(end - start) * (1_000_000n - needed) -
          BigInt(last.polledAt / SECOND - start) * (1_000_000n - last.uptime);
        return [
          {
            node_id: nodeId,
            seen_by: viewer.name,
            is_own_view: viewer.identity.nodeId === nodeId,
            readings: String(readings.length),
            lowest: scaled(lowest(readings.map(({ uptime }) => uptime)), 4),
            uptime: scaled(last.uptime, 4),
            observed_at: iso(last.polledAt),
            connected_share: quotient(
              BigInt(readings.filter(({ connected }) => connected).length),
              BigInt(readings.length),
              9,
            ),
            threshold: plain(threshold),
            is_enough: last.uptime >= needed,
            end_time: iso(end * SECOND),
            downtime_left_minutes: String(floored(remaining, 60_000_000n)),
          },
        ];
      }),
    );
  },

  uptime_by_stake: (question) => {
    const node = question.node('validator-1');
    return question.days().map((day) => {
      const polls = question.polls.filter((polledAt) => polledAt >= day && polledAt < question.endOf(day));
      const rewarding = polls.map((polledAt) =>
        units((97 + 3 * unit(node.seed, Math.floor(polledAt / 600_000), 77)).toFixed(4), 4),
      );
      const average = polls.map((polledAt) =>
        units(
          (
            99 +
            unit(node.seed, Math.floor(polledAt / 60_000), 78) -
            between(node.seed, 0, 3, Math.floor(polledAt / DAY), 79) / 10
          ).toFixed(4),
          4,
        ),
      );
      return {
        day: dayOf(day),
        node: node.name,
        readings: String(polls.length),
        lowest_rewarding_stake: scaled(lowest(rewarding), 4),
        last_rewarding_stake: scaled(rewarding.at(-1) ?? 0n, 4),
        average_uptime: quotient(
          average.reduce((a, b) => a + b, 0n),
          BigInt(polls.length) * 10_000n,
          4,
        ),
      };
    });
  },

  node_versions: (question) =>
    NODES.flatMap((name) => {
      const node = question.node(name);
      const periods: { version: string; since: number; until: number | null }[] = [];
      for (const polledAt of question.polls) {
        const version = release(node, polledAt / SECOND);
        const last = periods.at(-1);
        if (last?.version === version) continue;
        if (last) last.until = polledAt;
        periods.push({ version, since: polledAt, until: null });
      }
      return periods
        .filter(({ since, until }) => since < question.to && (until === null || until > question.from))
        .map(({ version, since, until }) => ({
          node: name,
          version: `avalanchego/${version}`,
          rpc_protocol_version: version.startsWith('1.14') ? '44' : '42',
          since: iso(since),
          until: until === null ? null : iso(until),
        }));
    }),

  peer_versions: (question) =>
    question.dayEnds().flatMap(({ day, polledAt }) =>
      NODES.filter((name) => name === (question.parameter('seen_by') ?? name)).flatMap((name) => {
        const node = question.node(name);
        const sec = polledAt / SECOND;
        const stakes = question.validators(polledAt);
        const peers = node.network.validators.nodes
          .filter(({ seat }) => seat !== node.identity.seat && isConnected(node, seat, sec))
          .map((peer) => ({
            version: `avalanchego/${release(node, sec, peer.seat)}`,
            stake: stakes
              .filter((stake) => stake.node.nodeId === peer.nodeId)
              .reduce((sum, stake) => sum + stake.weight + delegated(stake, polledAt), 0n),
          }));
        const total = peers.reduce((sum, { stake }) => sum + stake, 0n);
        return [...new Set(peers.map(({ version }) => version))].map((version) => {
          const own = peers.filter((peer) => peer.version === version);
          const stake = own.reduce((sum, one) => sum + one.stake, 0n);
          return {
            day: dayOf(day),
            seen_by: name,
            version,
            peers: String(own.length),
            share_of_peers: quotient(BigInt(own.length), BigInt(peers.length), 9),
            ...inAvax('stake', stake),
            share_of_stake: quotient(stake, total, 9),
          };
        });
      }),
    ),

  fees_over_time: (question) =>
    NODES.flatMap((node) =>
      Object.entries({
        tx_fee: 1_000_000n,
        create_asset_tx_fee: 10_000_000n,
        create_subnet_tx_fee: 1_000_000_000n,
        transform_subnet_tx_fee: 10_000_000_000n,
        create_blockchain_tx_fee: 1_000_000_000n,
        add_primary_network_validator_fee: 0n,
        add_primary_network_delegator_fee: 0n,
        add_subnet_validator_fee: 1_000_000n,
        add_subnet_delegator_fee: 1_000_000n,
        x_tx_fee: 1_000_000n,
        x_create_asset_tx_fee: 10_000_000n,
      }).map(([fee, amount]) => ({
        node,
        fee,
        ...inAvax('amount', amount),
        since: iso(question.polls[0] ?? 0),
        until: null,
      })),
    ),

  supply_over_time: (question) => {
    const { network } = question.world.sandbox;
    const chain = network.chain('p-chain');
    if (!chain) return [];
    const blocks = network.blocks(chain);
    const supply = (polledAt: number) => BigInt(blocks.supply(polledAt / SECOND));
    return question.dayEnds().map(({ day, polledAt }) => {
      const before = question.polls.filter((one) => one < day).at(-1);
      const change = before === undefined ? null : supply(polledAt) - supply(before);
      return {
        day: dayOf(day),
        ...inAvax('supply', supply(polledAt)),
        change: change === null ? null : String(change),
        change_avax: change === null ? null : avax(change),
        height: String(blocks.heightAt(polledAt / SECOND)),
        observed_at: iso(polledAt),
      };
    });
  },
};
