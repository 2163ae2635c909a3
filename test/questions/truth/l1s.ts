import { subnetTransaction, TRANSFERRED_AFTER } from '../../../sandbox/data/subnets.ts';
import { KIND } from '../../../sandbox/ids/spaces.ts';
import {
  CONVERTED_AFTER,
  memberBalance,
  memberWeight,
  type Subnet,
} from '../../../sandbox/network/subnets.ts';
import { avax, quotient } from '../decimals.ts';
import { type Answers, DAY, dayOf, inAvax, iso, type Row, SECOND } from './question.ts';

/** Numbers of a subnet's own transactions. */
const CONVERSION = 1;
const TRANSFER = 2;

/** Expected results about L1s. */
export const l1s: Answers = {
  l1_changes: (asked) => {
    const { network } = asked.world.sandbox;
    const stateAt = (subnet: Subnet, look: number) => {
      const age = look / SECOND - subnet.createdAt;
      if (age < 0) return null;
      return {
        isL1: (subnet.kind === 'l1' || subnet.kind === 'mixed') && age >= CONVERTED_AFTER,
        owners: `1 of ${network.accounts.of(subnet.number, age < (120 * DAY) / SECOND ? 81 : 82).address}`,
      };
    };
    const watched = network.accounts.among(asked.world.recorder.config.watch.addresses);
    // The first owner signs the later transactions of its subnet.
    const onChain = (subnet: Subnet, which: number, after: number): Row => {
      const at = iso((subnet.createdAt + after) * SECOND);
      const isRecorded = watched.includes(network.accounts.of(subnet.number, 81));
      if (which === TRANSFER && !isRecorded) return { tx_hash: null, on_chain_at: null };
      return { tx_hash: subnetTransaction(network, subnet, which), on_chain_at: isRecorded ? at : null };
    };
    return network.subnets.slice(1).flatMap((subnet) => {
      const manager = `${network.ids.address.encode(KIND.contract, subnet.number).toLowerCase()} on ${subnet.chains[0]?.blockchainId}`;
      return asked.looks.slice(1).flatMap((look, at) => {
        if (look < asked.from || look >= asked.to) return [];
        const [before, now] = [stateAt(subnet, asked.looks[at] ?? 0), stateAt(subnet, look)];
        if (now === null) return [];
        const about = {
          at: iso(look),
          subnet_id: subnet.subnetId,
          is_l1: now.isL1,
          blockchains: subnet.chains
            .map(({ name }) => name)
            .sort()
            .join(', '),
          created_at: iso(subnet.createdAt * SECOND),
        };
        return [
          ...(before === null
            ? [
                {
                  ...about,
                  ...{ change: 'appeared', before: null, after: now.owners },
                  ...{ tx_hash: subnet.subnetId, on_chain_at: about.created_at },
                },
              ]
            : []),
          ...(now.isL1 && !before?.isL1
            ? [
                {
                  ...about,
                  ...{ change: 'converted', before: null, after: manager },
                  ...onChain(subnet, CONVERSION, CONVERTED_AFTER),
                },
              ]
            : []),
          ...(before !== null && before.owners !== now.owners
            ? [
                {
                  ...about,
                  ...{ change: 'owners changed', before: before.owners, after: now.owners },
                  ...onChain(subnet, TRANSFER, TRANSFERRED_AFTER),
                },
              ]
            : []),
        ];
      });
    });
  },

  l1_balances: (asked) =>
    asked.dayEnds().flatMap(({ day, look }) =>
      asked.l1Members(look).map(({ subnet, member }) => ({
        day: dayOf(day),
        subnet_id: subnet.subnetId,
        validation_id: member.id,
        node_id: member.node.nodeId,
        weight: String(memberWeight(member, look / SECOND)),
        ...inAvax('balance', memberBalance(member, look / SECOND)),
      })),
    ),

  l1_runway: (asked) =>
    asked.l1Members(asked.lastLook).map(({ subnet, member }) => {
      const balance = memberBalance(member, asked.lastLook / SECOND);
      const since = asked.asOf - Number(asked.given('days') ?? 7) * DAY;
      // It burns 512 nAVAX a second, visible between two polls without a top-up.
      const seen = asked.looks.filter((look) => member.start * SECOND <= look);
      const burns = seen.slice(1).some((look, at) => {
        const before = memberBalance(member, (seen[at] ?? 0) / SECOND);
        return look > since && before > memberBalance(member, look / SECOND);
      });
      return {
        runs_dry_at: burns ? iso(asked.lastLook + Number(quotient(balance, 512n, 0)) * SECOND) : null,
        subnet_id: subnet.subnetId,
        validation_id: member.id,
        node_id: member.node.nodeId,
        seen_at: iso(asked.lastLook),
        ...inAvax('balance', balance),
        burned_per_day: burns ? String(512 * 86_400) : null,
        burned_per_day_avax: burns ? avax(512n * 86_400n) : null,
      };
    }),
};
