import { release } from '../../../sandbox/node/releases.ts';
import { isConnected, observedUptime } from '../../../sandbox/node/validator-records.ts';
import { between, unit } from '../../../sandbox/random.ts';
import { avax, plain, quotient, scaled, units } from '../decimals.ts';
import { NODES } from '../world.ts';
import { type Answers, DAY, dayOf, delegated, floored, inAvax, iso, lowest, SECOND } from './question.ts';

/** Expected results about uptime, versions, fees and supply. */
export const nodes: Answers = {
  validator_uptime_seen: (asked) => {
    const { network, nodes } = asked.world.sandbox;
    const viewers = NODES.map((name) => nodes.find((node) => node.name === name)).filter((node) => !!node);
    const wanted = asked.given('node_id');
    const mine = wanted === undefined ? viewers.map(({ identity }) => identity.nodeId) : [wanted];
    const threshold = asked.given('threshold') ?? '80';
    return mine.flatMap((nodeId) =>
      viewers.flatMap((viewer) => {
        const readings = asked.looks
          .filter((look) => look >= asked.from && look < asked.to)
          .flatMap((look) => {
            const stake = asked.validators(look).find(({ node }) => node.nodeId === nodeId);
            const seat = network.validators.node(nodeId)?.seat ?? -1;
            const uptime = units(observedUptime(viewer, seat, look / SECOND).toFixed(4), 4);
            return stake
              ? [{ look, stake, uptime, connected: isConnected(viewer, seat, look / SECOND) }]
              : [];
          });
        const last = readings.at(-1);
        if (!last) return [];
        const [start, end] = [last.stake.start, last.stake.end];
        const needed = units(threshold, 4);
        const left =
          BigInt(end - start) * (1_000_000n - needed) -
          BigInt(last.look / SECOND - start) * (1_000_000n - last.uptime);
        return [
          {
            node_id: nodeId,
            seen_by: viewer.name,
            is_own_view: viewer.identity.nodeId === nodeId,
            readings: String(readings.length),
            lowest: scaled(lowest(readings.map(({ uptime }) => uptime)), 4),
            uptime: scaled(last.uptime, 4),
            observed_at: iso(last.look),
            connected_share: quotient(
              BigInt(readings.filter(({ connected }) => connected).length),
              BigInt(readings.length),
              9,
            ),
            threshold: plain(threshold),
            is_enough: last.uptime >= needed,
            end_time: iso(end * SECOND),
            downtime_left_minutes: String(floored(left, 60_000_000n)),
          },
        ];
      }),
    );
  },

  uptime_by_stake: (asked) => {
    const node = asked.node('validator-1');
    return asked.days().map((day) => {
      const seen = asked.looks.filter((look) => look >= day && look < asked.endOf(day));
      const rewarding = seen.map((look) =>
        units((97 + 3 * unit(node.seed, Math.floor(look / 600_000), 77)).toFixed(4), 4),
      );
      const average = seen.map((look) =>
        units(
          (
            99 +
            unit(node.seed, Math.floor(look / 60_000), 78) -
            between(node.seed, 0, 3, Math.floor(look / DAY), 79) / 10
          ).toFixed(4),
          4,
        ),
      );
      return {
        day: dayOf(day),
        node: node.name,
        readings: String(seen.length),
        lowest_rewarding_stake: scaled(lowest(rewarding), 4),
        last_rewarding_stake: scaled(rewarding.at(-1) ?? 0n, 4),
        average_uptime: quotient(
          average.reduce((a, b) => a + b, 0n),
          BigInt(seen.length) * 10_000n,
          4,
        ),
      };
    });
  },

  node_versions: (asked) =>
    NODES.flatMap((name) => {
      const node = asked.node(name);
      const periods: { version: string; since: number; until: number | null }[] = [];
      for (const look of asked.looks) {
        const version = release(node, look / SECOND);
        const last = periods.at(-1);
        if (last?.version === version) continue;
        if (last) last.until = look;
        periods.push({ version, since: look, until: null });
      }
      return periods
        .filter(({ since, until }) => since < asked.to && (until === null || until > asked.from))
        .map(({ version, since, until }) => ({
          node: name,
          version: `avalanchego/${version}`,
          rpc_protocol_version: version.startsWith('1.14') ? '44' : '42',
          since: iso(since),
          until: until === null ? null : iso(until),
        }));
    }),

  peer_versions: (asked) =>
    asked.dayEnds().flatMap(({ day, look }) =>
      NODES.filter((name) => name === (asked.given('seen_by') ?? name)).flatMap((name) => {
        const node = asked.node(name);
        const sec = look / SECOND;
        const stakes = asked.validators(look);
        const peers = node.network.validators.nodes
          .filter(({ seat }) => seat !== node.identity.seat && isConnected(node, seat, sec))
          .map((peer) => ({
            version: `avalanchego/${release(node, sec, peer.seat)}`,
            stake: stakes
              .filter((stake) => stake.node.nodeId === peer.nodeId)
              .reduce((sum, stake) => sum + stake.weight + delegated(stake, look), 0n),
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

  fees_over_time: (asked) =>
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
        since: iso(asked.looks[0] ?? 0),
        until: null,
      })),
    ),

  supply_over_time: (asked) => {
    const { network } = asked.world.sandbox;
    const chain = network.chain('p-chain');
    if (!chain) return [];
    const blocks = network.blocks(chain);
    const supply = (look: number) => BigInt(blocks.supply(look / SECOND));
    return asked.dayEnds().map(({ day, look }) => {
      const before = asked.looks.filter((one) => one < day).at(-1);
      const change = before === undefined ? null : supply(look) - supply(before);
      return {
        day: dayOf(day),
        ...inAvax('supply', supply(look)),
        change: change === null ? null : String(change),
        change_avax: change === null ? null : avax(change),
        height: String(blocks.heightAt(look / SECOND)),
        observed_at: iso(look),
      };
    });
  },
};
