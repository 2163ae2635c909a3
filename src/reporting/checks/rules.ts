/** The description of a check and of its tolerance, as text for a page. */
export interface CheckRule {
  readonly compares: string;
  /** The maximum difference that is no discrepancy, and sometimes the reason. */
  readonly tolerance: string;
}

/** All checks, by name. The SQL of `metric-checks.ts` and `node-checks.ts` implements these rules. */
export const checkRules = {
  metric_parts: {
    compares:
      'hours against their day, days against their week and month. Transactions and gas: the whole equals the sum of its parts. Addresses and senders: the whole is between the largest part and the sum of the parts',
    tolerance: '1 %, and at least 1',
  },
  metric_falls: {
    compares: 'each day of a cumulative metric against the previous recorded day: the value never decreases',
    tolerance: 'none',
  },
  metric_growth: {
    compares:
      'the daily growth of a cumulative metric against the count of that day: equal for transactions and contracts, at most the count for addresses and deployers',
    tolerance: '1 %, and at least 1',
  },
  metric_rates: {
    compares: 'average transactions and gas per second against the count of the day',
    tolerance:
      '5 %, and at least 0.01 a second; on days with 1,000 transactions or more: a day is measured from block to block',
  },
  metric_bounds: {
    compares:
      'a maximum against its average, addresses against senders, contracts against deployers: the first is never smaller',
    tolerance: '1 %, and at least 0.01, or 1 of what is counted',
  },
  average_tps: {
    compares: 'average_tps (v1) against the metric avgTps (v2) of the same day',
    tolerance: '2 %, and at least 0.02',
  },
  block_ids: {
    compares: 'blocks of one height: the block of a node against those of most nodes and of the data service',
    tolerance: 'none',
  },
  height_falls: {
    compares: 'the height of a chain at a node against the previous reading: the height never decreases',
    tolerance: 'none',
  },
  height_behind: {
    compares:
      'the height of a chain at a node against the heights of other nodes and the data service 30 minutes earlier',
    tolerance: '30 minutes',
  },
  validator_lists: {
    compares: 'the validators listed by one node against those listed by the other nodes',
    tolerance: '1 hour: a difference counts once both values were unchanged for that time',
  },
  validator_terms: {
    compares: 'weight, end, reward and delegated weight of a validator: one node against most nodes',
    tolerance: '1 hour: a difference counts once both values were unchanged for that time',
  },
  validator_stakes: {
    compares: 'node, end and stake of a validation: the data service against the nodes',
    tolerance: '3 hours: a difference counts once both values were unchanged for that time',
  },
  balances: {
    compares:
      'the balance of an address by asset: one node against most nodes, and the data service against each node',
    tolerance:
      '1 hour between nodes, 3 hours against the data service: a difference counts once both values were unchanged for that time',
  },
} as const satisfies Readonly<Record<string, CheckRule>>;

export type CheckName = keyof typeof checkRules;
