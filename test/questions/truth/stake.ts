import { currentMembers, type Member, memberWeight } from '../../../sandbox/network/subnets.ts';
import type { Stake, ValidatorStake } from '../../../sandbox/network/validators.ts';
import { quotient } from '../decimals.ts';
import {
  type Answers,
  DAY,
  dayOf,
  delegated,
  delegations,
  inAvax,
  iso,
  ownersOf,
  PRIMARY,
  type Question,
  type Row,
  SECOND,
  span,
} from './question.ts';

type Movement = { readonly weight: string; readonly delegated: string | null } & Row;

type Movers = readonly { readonly key: string; readonly row: Movement }[];

/**
 * Validators with another weight or delegated stake at the end of a day than before its first change, with the last
 * change.
 */
function changedByDay(question: Question, members: (polledAt: number) => Movers): Row[] {
  const isSame = (a: Movement, b: Movement) => a.weight === b.weight && a.delegated === b.delegated;
  const days = new Map<string, { at: number; before: Movement; row: Movement }>();
  for (const [at, polledAt] of question.polls.entries()) {
    if (at === 0 || polledAt < question.from || polledAt >= question.to) continue;
    const before = new Map(members(question.polls[at - 1] ?? 0).map(({ key, row }) => [key, row]));
    for (const { key, row } of members(polledAt)) {
      const last = before.get(key);
      if (last === undefined || isSame(last, row)) continue;
      const day = `${key} ${dayOf(polledAt)}`;
      days.set(day, { at: polledAt, before: days.get(day)?.before ?? last, row });
    }
  }
  return [...days.values()]
    .filter(({ before, row }) => !isSame(before, row))
    .map(({ at, before, row }) => ({
      ...{ at: iso(at), change: 'changed', ...row, expired: null },
      ...{ weight_before: before.weight, delegated_before: before.delegated },
    }));
}

/** Expected results about stake and validators. */
export const stake: Answers = {
  stake_flows: (question) => {
    const moves = question.polls.slice(1).map((polledAt, at) => {
      const before = new Map(question.validators(question.polls[at] ?? 0).map((one) => [one.txId, one]));
      const now = new Map(question.validators(polledAt).map((one) => [one.txId, one]));
      const ids = [...new Set([...before.keys(), ...now.keys()])];
      const change = (of: (stake: ValidatorStake | undefined, polledAt: number) => bigint) =>
        ids.map((id) => of(now.get(id), polledAt) - of(before.get(id), question.polls[at] ?? 0));
      return { polledAt, own: change((stake) => stake?.weight ?? 0n), delegated: change(delegated) };
    });
    return question.days().map((day) => {
      const ofDay = moves.filter(({ polledAt }) => polledAt >= day && polledAt < question.endOf(day));
      const sum = (some: readonly bigint[], sign: 1n | -1n) =>
        some.reduce((all, one) => (one * sign > 0n ? all + one * sign : all), 0n);
      const own = ofDay.flatMap((one) => one.own);
      const others = ofDay.flatMap((one) => one.delegated);
      const [a, b, c, d] = [sum(own, 1n), sum(own, -1n), sum(others, 1n), sum(others, -1n)];
      return {
        day: dayOf(day),
        ...inAvax('stake_in', a),
        ...inAvax('stake_out', b),
        ...inAvax('delegated_in', c),
        ...inAvax('delegated_out', d),
        ...inAvax('net', a + c - b - d),
      };
    });
  },

  stake_daily: (question) =>
    question.dayEnds().map(({ day, polledAt }) => {
      const stakes = question.validators(polledAt);
      const own = stakes.reduce((sum, { weight }) => sum + weight, 0n);
      const others = stakes.reduce((sum, stake) => sum + delegated(stake, polledAt), 0n);
      return {
        day: dayOf(day),
        validators: String(stakes.length),
        delegations: String(stakes.reduce((sum, stake) => sum + delegations(stake, polledAt).length, 0)),
        ...inAvax('stake', own),
        ...inAvax('delegated', others),
        ...inAvax('total', own + others),
      };
    }),

  validator_movements: (question) => {
    const subnet = question.subnet(question.parameter('subnet_id') ?? PRIMARY);
    const ofStake = (polledAt: number) => (stake: ValidatorStake) => ({
      key: stake.txId,
      row: {
        node_id: stake.node.nodeId,
        tx_id: stake.txId,
        validation_id: null,
        ...span(stake),
        stake_navax: String(stake.weight),
        weight: String(stake.weight),
        delegated: String(delegated(stake, polledAt)),
      },
    });
    const ofMember = (polledAt: number) => (member: Member) => ({
      key: member.id,
      row: {
        node_id: member.node.nodeId,
        tx_id: member.l1 ? null : member.id,
        validation_id: member.l1 ? member.id : null,
        start_time: iso(member.start * SECOND),
        end_time: member.l1 ? null : iso(member.end * SECOND),
        stake_navax: null,
        weight: String(memberWeight(member, polledAt / SECOND)),
        delegated: null,
      },
    });
    const members = (polledAt: number): Movers =>
      subnet.kind === 'primary'
        ? question.validators(polledAt).map(ofStake(polledAt))
        : currentMembers(subnet, polledAt / SECOND).map(ofMember(polledAt));
    return [
      ...question.movements(members, ({ row }) => ({ ...row, weight_before: null, delegated_before: null })),
      ...changedByDay(question, members),
    ];
  },

  delegation_movements: (question) =>
    question.movements(
      (polledAt) =>
        question.watchedDelegations(polledAt).map((stake) => ({ key: stake.txId, stake, polledAt })),
      ({ stake }) => ({
        node_id: stake.node.nodeId,
        tx_id: stake.txId,
        owners: ownersOf(stake.rewardOwners, 'P-'),
        ...span(stake),
        ...inAvax('stake', stake.weight),
      }),
      false,
    ),

  largest_delegations: (question) => {
    const all = question.watchedDelegations(question.lastPoll);
    return all
      .sort((a, b) => (a.weight === b.weight ? (a.txId < b.txId ? -1 : 1) : a.weight > b.weight ? -1 : 1))
      .map((stake) => ({
        rank: String(1 + all.filter(({ weight }) => weight > stake.weight).length),
        node_id: stake.node.nodeId,
        tx_id: stake.txId,
        owners: ownersOf(stake.rewardOwners, 'P-'),
        ...span(stake),
        ...inAvax('stake', stake.weight),
        share: quotient(
          stake.weight,
          all.filter(({ node }) => node === stake.node).reduce((sum, { weight }) => sum + weight, 0n),
          9,
        ),
      }))
      .slice(0, Number(question.parameter('most') ?? 20));
  },

  stake_expiring: (question) => {
    const until = question.asOf + Number(question.parameter('days') ?? 30) * DAY;
    const ends = ({ end, node }: Stake) =>
      end * SECOND > question.asOf &&
      end * SECOND <= until &&
      node.nodeId === (question.parameter('node_id') ?? node.nodeId);
    const row = (kind: string) => (stake: Stake) => ({
      end_time: iso(stake.end * SECOND),
      days_left: quotient(BigInt(stake.end * SECOND - question.asOf), BigInt(DAY), 4),
      kind,
      node_id: stake.node.nodeId,
      tx_id: stake.txId,
      ...inAvax('stake', stake.weight),
      ...inAvax('potential_reward', stake.potentialReward),
    });
    return [
      ...question.validators(question.lastPoll).filter(ends).map(row('validator')),
      ...question.watchedDelegations(question.lastPoll).filter(ends).map(row('delegation')),
    ];
  },
};
