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
  l1_changes: (question) => {
    const { network } = question.world.sandbox;
    const stateAt = (subnet: Subnet, polledAt: number) => {
      const age = polledAt / SECOND - subnet.createdAt;
      if (age < 0) return null;
      return {
        isL1: (subnet.kind === 'l1' || subnet.kind === 'mixed') && age >= CONVERTED_AFTER,
        owners: `1 of ${network.accounts.of(subnet.number, age < (120 * DAY) / SECOND ? 81 : 82).address}`,
      };
    };
    const watched = network.accounts.among(question.world.recorder.config.watch.addresses);
    // The first owner signs the later transactions of its subnet.
    const onChain = (subnet: Subnet, which: number, after: number): Row => {
      const at = iso((subnet.createdAt + after) * SECOND);
      const isRecorded = watched.includes(network.accounts.of(subnet.number, 81));
      if (which === TRANSFER && !isRecorded) return { tx_hash: null, on_chain_at: null };
      return { tx_hash: subnetTransaction(network, subnet, which), on_chain_at: isRecorded ? at : null };
    };
    return network.subnets.slice(1).flatMap((subnet) => {
      const manager = `${network.ids.address.encode(KIND.contract, subnet.number).toLowerCase()} on ${subnet.chains[0]?.blockchainId}`;
      return question.polls.slice(1).flatMap((polledAt, at) => {
        if (polledAt < question.from || polledAt >= question.to) return [];
        const [before, now] = [stateAt(subnet, question.polls[at] ?? 0), stateAt(subnet, polledAt)];
        if (now === null) return [];
        const about = {
          at: iso(polledAt),
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

  l1_balances: (question) =>
    question.dayEnds().flatMap(({ day, polledAt }) =>
      question.l1Members(polledAt).map(({ subnet, member }) => ({
        day: dayOf(day),
        subnet_id: subnet.subnetId,
        validation_id: member.id,
        node_id: member.node.nodeId,
        weight: String(memberWeight(member, polledAt / SECOND)),
        ...inAvax('balance', memberBalance(member, polledAt / SECOND)),
      })),
    ),

  l1_runway: (question) =>
    question.l1Members(question.lastPoll).map(({ subnet, member }) => {
      const balance = memberBalance(member, question.lastPoll / SECOND);
      const since = question.asOf - Number(question.parameter('days') ?? 7) * DAY;
      // It burns 512 nAVAX a second, visible between two polls without a top-up.
      const polls = question.polls.filter((polledAt) => member.start * SECOND <= polledAt);
      const burns = polls.slice(1).some((polledAt, at) => {
        const before = memberBalance(member, (polls[at] ?? 0) / SECOND);
        return polledAt > since && before > memberBalance(member, polledAt / SECOND);
      });
      return {
        runs_dry_at: burns ? iso(question.lastPoll + Number(quotient(balance, 512n, 0)) * SECOND) : null,
        subnet_id: subnet.subnetId,
        validation_id: member.id,
        node_id: member.node.nodeId,
        seen_at: iso(question.lastPoll),
        ...inAvax('balance', balance),
        burned_per_day: burns ? String(512 * 86_400) : null,
        burned_per_day_avax: burns ? avax(512n * 86_400n) : null,
      };
    }),
};
