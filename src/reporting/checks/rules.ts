/** The description of a check and of its tolerance, as text for a page. */
export interface Rule {
  readonly compares: string;
  /** The maximum difference that is no discrepancy, and sometimes the reason. */
  readonly tolerance: string;
}

/** All checks, by name. The SQL of `metric-checks.ts` and `node-checks.ts` implements these rules. */
export const rules = {
  metric_parts: {
    compares:
      'hours against their day, days against their week and month: of transactions and gas the sum; of addresses and senders the whole is at most the sum of its parts, and at least the largest',
    tolerance: '1 %, and at least 1',
  },
  metric_falls: {
    compares: 'each day of a cumulative metric against the day recorded before it: it never falls',
    tolerance: 'none',
  },
  metric_growth: {
    compares:
      'by how much a cumulative metric grew in a day against what was counted on that day: transactions and contracts exactly, addresses and deployers at most',
    tolerance: '1 %, and at least 1',
  },
  metric_rates: {
    compares: 'average transactions and gas per second against the count of the day',
    tolerance:
      '5 %, and at least 0.01 a second; on days with 1,000 transactions or more: a day is measured from block to block',
  },
  metric_bounds: {
    compares:
      'a maximum against its average, addresses against senders, contracts against deployers: the first is never less',
    tolerance: '1 %, and at least 0.01, or 1 of what is counted',
  },
  average_tps: {
    compares: 'average_tps (v1) against the metric avgTps (v2) of the same day',
    tolerance: '2 %, and at least 0.02',
  },
  block_ids: {
    compares:
      'blocks of one height: what a node has against what most nodes have, and against the data service',
    tolerance: 'none',
  },
  height_falls: {
    compares: 'the height of a chain at a node against what it was at the reading before: it never falls',
    tolerance: 'none',
  },
  height_behind: {
    compares:
      'the height of a chain at a node against what other nodes and the data service had 30 minutes before',
    tolerance: '30 minutes',
  },
  validator_lists: {
    compares: 'the validators that one node lists against those that the other nodes list',
    tolerance: '1 hour: both sides must report the same for that time',
  },
  validator_terms: {
    compares: 'weight, end, reward and delegated weight of a validator: a node against most nodes',
    tolerance: '1 hour: both sides must report the same for that time',
  },
  validator_stakes: {
    compares: 'node, end and stake of a validation: the data service against the nodes',
    tolerance: '3 hours: both sides must report the same for that time',
  },
  balances: {
    compares:
      'what an address holds of an asset: a node against most nodes, and the data service against each node',
    tolerance:
      '1 hour between nodes, 3 hours against the data service: both sides must report the same for that time',
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type CheckName = keyof typeof rules;
