import { METRICS } from '../../../sandbox/metrics/names.ts';
import { quotient, scaled, units } from '../decimals.ts';
import { CHAINS } from '../world.ts';
import { type Answers, DAY, dayOf, iso } from './question.ts';

/** Formats a time like PostgreSQL. @param ms a positive one */
function interval(ms: number): string {
  const days = Math.floor(ms / DAY);
  const time = iso(ms % DAY).slice(11, 19);
  return days === 0 ? time : `${days} ${days === 1 ? 'day' : 'days'} ${time}`;
}

/** Expected results about metrics of chains. */
export const metrics: Answers = {
  metric_over_time: (question) =>
    [...question.metric(question.text('chain_id'))]
      .flatMap(([start, values]) =>
        values.filter(({ until }) => until === null).map((one) => ({ start, ...one })),
      )
      .map(({ start, value, since }) => ({
        bucket_start: iso(start),
        value,
        valid_from: iso(since),
      })),

  metric_revisions: (question) =>
    [...question.metric(question.text('chain_id'))].flatMap(([start, values]) =>
      values.map(({ value, since, until }, at) => ({
        bucket_start: iso(start),
        revision: String(at + 1),
        value,
        change: at === 0 ? null : scaled(units(value, 9) - units(values[at - 1]?.value ?? '0', 9), 9),
        valid_from: iso(since),
        valid_to: until === null ? null : iso(until),
        ended_by: until === null ? null : values[at + 1]?.since === until ? 'changed' : 'gone',
      })),
    ),

  metric_settling_of: (question) => {
    const points = [...question.metric(question.text('chain_id'), question.asOf)].map(([start, values]) =>
      values.flatMap(({ until }) => (until === null ? [] : [until - (start + DAY)])),
    );
    const moves = points.flat().sort((a, b) => a - b);
    const within = (share: number) => interval(moves[Math.ceil(share * moves.length) - 1] ?? 0);
    return [
      {
        metric: question.text('metric'),
        time_interval: 'day',
        revisions: String(moves.length),
        points_revised: String(points.filter((ofPoint) => ofPoint.length > 0).length),
        half_moved_within: within(0.5),
        settled_within: within(0.99),
        latest_move: within(1),
      },
    ];
  },

  metric_week_over_week: (question) => {
    const metric = question.text('metric');
    if (metric === 'avgGasPrice') return null;
    const hasWeeks = metric === 'activeAddresses' || metric === 'txCount';
    const chains = CHAINS.filter((chain) => chain === (question.parameter('chain_id') ?? chain));
    return chains.flatMap((chain) => {
      const week = (monday: number): { value: bigint; isWhole: boolean } => {
        const points = hasWeeks
          ? question.points(chain, metric, 'week', monday, monday + DAY)
          : question.points(chain, metric, 'day', monday, monday + 7 * DAY);
        const value = points.reduce((sum, point) => sum + units(point.value, 9), 0n);
        return { value, isWhole: hasWeeks || points.length === 7 };
      };
      return question
        .days()
        .filter((day) => new Date(day).getUTCDay() === 1)
        .map((monday) => {
          const { value: now, isWhole } = week(monday);
          const { value: before } = week(monday - 7 * DAY);
          return {
            chain_id: chain,
            week: dayOf(monday),
            value: scaled(now, 9),
            value_before: scaled(before, 9),
            change: scaled(now - before, 9),
            change_percent: quotient((now - before) * 100n, before, 4),
            is_complete: isWhole && monday + 7 * DAY <= question.lastPoll,
          };
        });
    });
  },

  top_chains: (question) => {
    const chains = question.totals(CHAINS.filter((chain) => chain !== 'total'));
    if (chains === null) return null;
    const sum = chains.reduce((all, { value }) => all + value, 0n);
    return chains.map(({ chain, value, buckets }) => ({
      rank: String(1 + chains.filter((other) => other.value > value).length),
      chain_id: chain,
      value: scaled(value, 9),
      buckets: String(buckets),
      share: question.text('metric') === 'txCount' ? quotient(value, sum, 9) : null,
    }));
  },

  metric_total: (question) => {
    const chainIds =
      question.parameter('chain_ids')?.split(',') ?? CHAINS.filter((chain) => chain !== 'total');
    const chains = question.totals(chainIds);
    if (chains === null || (chains.length > 1 && question.text('metric') === 'feesPaid')) return null;
    const firsts = chains.map(({ first }) => first);
    const lasts = chains.map(({ last }) => last);
    return [
      {
        value: scaled(
          chains.reduce((all, { value }) => all + value, 0n),
          9,
        ),
        chains: String(chains.length),
        buckets: String(Math.max(...chains.map(({ buckets }) => buckets))),
        first_bucket: iso(Math.min(...firsts)),
        last_bucket: iso(Math.max(...lasts)),
      },
    ];
  },

  // By the definitions of the metrics.
  metric_rules: () =>
    METRICS.map((metric) => {
      const isDistinct = /Addresses|Senders|eployers/.test(metric);
      const isTotal = metric.startsWith('cumulative');
      const isAverage = metric.startsWith('avg');
      const isPrice = /Price|fees/.test(metric);
      const aggregate = metric.startsWith('max') ? 'max' : 'sum';
      return {
        metric,
        over_time: isTotal ? 'last' : isDistinct || isAverage ? null : aggregate,
        over_chains: isDistinct || isPrice ? null : aggregate,
      };
    }),

  chain_fees: (question) => {
    const of = (metric: string) => {
      const found = question.points(question.text('chain_id'), metric, 'day', question.from, question.to);
      return new Map(found.map(({ start, value }) => [start, value]));
    };
    const [fees, count, gas, average, max] = [
      of('feesPaid'),
      of('txCount'),
      of('gasUsed'),
      of('avgGasPrice'),
      of('maxGasPrice'),
    ];
    return question.days().map((day) => ({
      day: dayOf(day),
      fees_paid: fees.get(day) ?? null,
      tx_count: count.get(day) ?? null,
      fees_per_transaction:
        fees.has(day) && count.has(day)
          ? quotient(units(fees.get(day) ?? '', 9), units(count.get(day) ?? '', 0) * 10n ** 9n, 12)
          : null,
      gas_used: gas.get(day) ?? null,
      avg_gas_price: average.get(day) ?? null,
      max_gas_price: max.get(day) ?? null,
    }));
  },
};
