import { type Declared, literal } from '../../db/declared.ts';
import { UsageError } from '../../lib/errors.ts';
import { parseExactInstant } from '../../lib/instant.ts';
import { suggestNames } from '../../lib/nearest-name.ts';
import { declaredObjects } from '../views/declared-objects.ts';

/** Parameter values by name, as people write them: a list with commas, a time such as `2026-12-01`. */
export type Values = Readonly<Record<string, string>>;

/** An example of a saved query: a question as text, and the parameter values for it. */
export interface QueryExample {
  readonly text: string;
  readonly values: Values;
}

/**
 * A saved query, which is a view or function of `reporting`. `report NAME` runs the query, and
 * docs/reference/questions.md describes it.
 */
export interface SavedQuery {
  /** The name in `report NAME`: the name of the view or function, with dashes. */
  readonly name: string;
  readonly answer: Declared;
  readonly examples: readonly QueryExample[];
  /** The reason why past moments cannot be queried; null if they can be queried. */
  readonly notAsOf: string | null;
}

/** Placeholders in examples, for the reader's own values. */
export const PLACEHOLDERS = {
  node: 'NodeID-YOURS',
  address: 'P-avax1YOURS',
  evmAddress: '0xYOURS',
  subnet: 'YOUR-SUBNET-ID',
} as const;

const march = { from: '2026-03-02', to: '2026-04-01' };
const week = { from: '2026-03-20', to: '2026-03-27' };
const early = { as_of: '2026-03-20T12:00' };
const late = { as_of: '2026-04-02T12:00' };
const { node, address, evmAddress, subnet } = PLACEHOLDERS;

/** All saved queries by heading, then by view or function: each with its examples (question and values). */
const SAVED_QUERIES: Readonly<
  Record<string, Readonly<Record<string, readonly (readonly [string, Values])[]>>>
> = {
  'Metrics of chains': {
    metric_over_time: [
      [
        'How many transactions did the C-chain have each day?',
        { ...march, chain_id: '43114', metric: 'txCount' },
      ],
      [
        'How many did we think it had, on March 20?',
        { ...march, chain_id: '43114', metric: 'txCount', ...early },
      ],
      [
        'How many addresses were active on it each week?',
        { ...march, chain_id: '43114', metric: 'activeAddresses', time_interval: 'week' },
      ],
    ],
    metric_revisions: [
      [
        'How did the counts of a week change after they were first recorded?',
        { ...week, chain_id: '43114', metric: 'txCount' },
      ],
      [
        'Which values of that week were known by its third day?',
        { ...week, chain_id: '43114', metric: 'txCount', as_of: '2026-03-22T12:00' },
      ],
    ],
    metric_settling_of: [
      [
        'How long do the transaction counts of the C-chain keep changing after their day?',
        { metric: 'txCount', time_interval: 'day', chain_id: '43114' },
      ],
    ],
    metric_week_over_week: [
      ['Are more addresses active than the week before?', { ...march, metric: 'activeAddresses' }],
      [
        'How do the fees of the C-chain change from week to week?',
        { ...march, metric: 'feesPaid', chain_id: '43114' },
      ],
      [
        'How does the average gas price change from week to week? (Refused: averages cannot be added.)',
        { ...march, metric: 'avgGasPrice' },
      ],
    ],
    top_chains: [
      ['Which chains have the most transactions?', { ...march, metric: 'txCount' }],
      [
        'Which chains have the most active addresses in a month?',
        { from: '2026-03-01', to: '2026-03-02', metric: 'activeAddresses', time_interval: 'month' },
      ],
      [
        'Which chains have the most active addresses, as the sum of days? (Refused: an address that is active on two days would count twice.)',
        { ...march, metric: 'activeAddresses' },
      ],
    ],
    metric_total: [
      ['How many transactions did all recorded chains have together?', { ...march, metric: 'txCount' }],
      ['What was paid in fees on the C-chain?', { ...march, metric: 'feesPaid', chain_ids: '43114' }],
      [
        'How many transactions did the C-chain ever have?',
        { ...march, metric: 'cumulativeTxCount', chain_ids: '43114' },
      ],
      ['How many addresses were active in March? (Refused.)', { ...march, metric: 'activeAddresses' }],
      [
        'What was paid in fees on all chains? (Refused: the fees are in different tokens.)',
        { ...march, metric: 'feesPaid' },
      ],
    ],
    metric_rules: [['What may be summed over time or over chains?', {}]],
    chain_fees: [['What does a transaction on the C-chain cost?', { ...march, chain_id: '43114' }]],
  },
  'Stake and validators': {
    my_validators: [
      ['How are our validators?', late],
      [
        'How is one of our validators, against a threshold of 90 %, as known on March 20?',
        { node_id: node, threshold: '90', ...early },
      ],
    ],
    stake_flows: [
      ['How much stake was added and removed each day?', march],
      [
        'How much stake was added and removed, as one of our nodes reported it on March 20?',
        { ...march, seen_by: 'validator-1', ...early },
      ],
    ],
    stake_daily: [
      ['How much is staked?', march],
      ['How much was staked, as known on March 20?', { ...march, ...early }],
    ],
    validator_movements: [
      ['Which validators joined and left between two dates?', march],
      ['Which validators joined and left a subnet?', { ...march, subnet_id: subnet }],
      [
        'Which validators had joined and left, as known on March 23?',
        { ...march, as_of: '2026-03-23T12:00' },
      ],
    ],
    delegation_movements: [
      ['Who started and ended a delegation to our validators?', march],
      ['Who started and ended a delegation to one of our validators?', { ...march, node_id: node }],
    ],
    largest_delegations: [
      ['Which are the largest delegations to our validators?', late],
      [
        'Which were the three largest delegations to one of our validators on March 20?',
        { most: '3', node_id: node, ...early },
      ],
    ],
    stake_expiring: [
      ['Which stakes end within 30 days?', late],
      [
        'Which stakes of one validator ended within a year of March 20?',
        { days: '365', node_id: node, ...early },
      ],
    ],
  },
  L1s: {
    l1_changes: [
      ['Which subnets appeared, became L1s or changed owners?', { from: '2026-03-02', to: '2026-04-03' }],
      ['Which subnets changed, as known on March 20?', { ...march, ...early }],
    ],
    l1_balances: [
      ['How do the balances of L1 validators develop?', march],
      [
        'How do the balances of the validators of one L1 develop over a week?',
        { ...week, subnet_id: subnet },
      ],
    ],
    l1_runway: [
      ['On which day is the balance of each L1 validator used up?', late],
      [
        'On which day is the balance of each validator of one L1 used up, at the rate of the last three days?',
        { subnet_id: subnet, days: '3', ...late },
      ],
    ],
  },
  'Blocks, rewards and income': {
    blocks_proposed: [
      ['Do our validators propose as many blocks as their stake suggests?', week],
      [
        'Does one validator propose as many blocks in a month as its stake suggests?',
        { ...march, node_id: node },
      ],
    ],
    rewards_pending: [
      ['Which rewards are pending?', late],
      ['Which rewards were pending for one validator on March 20?', { node_id: node, ...early }],
    ],
    rewards: [['Which reward did each staking transaction earn, compared with its estimate?', {}]],
    rewards_received: [
      ['Which rewards were paid, and what were they worth?', march],
      [
        'Which rewards were paid since October, as known on March 20?',
        { ...march, from: '2025-10-01', ...early },
      ],
    ],
    income: [
      ['How much did staking earn each day, for the tax return, and how much is expected?', march],
      ['How much did staking earn each month?', { ...march, by: 'month' }],
      [
        'How much did staking earn each day, in euros? (Receipts without a recorded price are counted, not guessed.)',
        { ...march, currency: 'eur' },
      ],
      [
        'How much did staking earn each week? (Refused: only days, months and years are supported.)',
        { ...march, by: 'week' },
      ],
    ],
  },
  Balances: {
    primary_balances_over_time: [
      ['What did our addresses hold on the P- and X-chain each day?', week],
      ['What did one of our addresses hold each day of a month?', { ...march, address }],
    ],
    native_balances_over_time: [
      ['What did our EVM addresses hold each day, and what was it worth?', march],
      [
        'What did one of our EVM addresses hold on the C-chain each day?',
        { ...week, chain_id: '43114', address: evmAddress },
      ],
    ],
  },
  'Uptime, versions, fees and supply': {
    validator_uptime_seen: [
      ['Do other nodes observe enough uptime of our validators for the reward?', march],
      [
        'How far is one of our validators from an uptime of 97 %?',
        { ...week, node_id: node, threshold: '97' },
      ],
    ],
    uptime_by_stake: [['How much of the stake would reward our nodes?', march]],
    node_versions: [['Which version did our nodes run when?', march]],
    peer_versions: [
      ['Which versions do our peers run, by number and by stake?', week],
      ['Which versions do the peers of one of our nodes run?', { ...march, seen_by: 'observer-1' }],
    ],
    fees_over_time: [['What do transactions of the P- and X-chain cost?', march]],
    supply_over_time: [
      ['How does the supply of AVAX grow?', march],
      ['How did the supply of AVAX grow, as known on March 20?', { ...march, ...early }],
    ],
  },
  'The recorded data': {
    disagreements: [
      ['Which of our nodes disagree with the others, and about what?', {}],
      ['Which of our nodes disagree with the others about the supply?', { dataset: 'current_supply' }],
    ],
    freshness_by_dataset: [['How fresh is the recorded data?', {}]],
    gaps_between: [
      ['Which data of a week is missing?', week],
      ['Which data of the validators is missing?', { ...week, dataset: 'validators' }],
    ],
  },
};

/** The reasons why saved queries without a parameter `as_of` do not have this parameter. */
const NOT_AS_OF: Readonly<Record<string, string>> = {
  metric_settling_of: 'it is measured from all revisions recorded up to now',
  metric_rules: 'what may be summed follows from the version, not from the record',
  rewards: 'reporting.rewards_as_of accepts a past moment',
  disagreements: 'past states of late or failing nodes are not stored',
  freshness_by_dataset: 'the past freshness is not stored',
  gaps_between: 'filled gaps are not stored',
};

/**
 * Returns all saved queries by heading. @throws Error if the view or function of a query is not declared, or
 * lacks `as_of` without a reason in {@link NOT_AS_OF}
 */
export function savedQueries(): { heading: string; queries: SavedQuery[] }[] {
  const declared = new Map(declaredObjects().map((object) => [object.name, object]));
  return Object.entries(SAVED_QUERIES).map(([heading, ofHeading]) => ({
    heading,
    queries: Object.entries(ofHeading).map(([object, examples]) => {
      const answer = declared.get(object);
      if (!answer) throw new Error(`reporting has no object named ${object}: correct SAVED_QUERIES`);
      const takesAsOf = answer.kind === 'function' && answer.parameters.some(({ name }) => name === 'as_of');
      const notAsOf = takesAsOf ? null : NOT_AS_OF[object];
      if (notAsOf === undefined)
        throw new Error(`${object} has no parameter as_of: add one, or add the reason to NOT_AS_OF`);
      return {
        name: object.replaceAll('_', '-'),
        answer,
        examples: examples.map(([text, values]) => ({ text, values })),
        notAsOf,
      };
    }),
  }));
}

const allSavedQueries = () => savedQueries().flatMap((part) => part.queries);

/** Finds a saved query by its name, written with dashes or underscores (`top-chains`, `top_chains`). */
export function savedQueryNamed(name: string): SavedQuery | undefined {
  return allSavedQueries().find((savedQuery) => savedQuery.name === name.replaceAll('_', '-'));
}

/** A report: its description and options. */
export interface Report {
  readonly name: string;
  readonly answers: string;
  readonly takes: readonly string[];
  /** The reason why the report has no option `--as-of`; null if the report has this option. */
  readonly notAsOf: string | null;
}

/** The reason why the reports of the checks have no `--as-of`. */
export const CHECKS_NOT_AS_OF = 'found_at and ended_at have the times at which something was known';

/** Returns every report: the special reports first, then the saved queries. */
export function reports(): Report[] {
  return [
    {
      name: 'uptime',
      answers: 'The uptime of each node in a window.',
      takes: ['--from', '--to', '--node', '--as-of'],
      notAsOf: null,
    },
    {
      name: 'sla',
      answers: 'The service level of a month: uptime against a target, incidents, rewards.',
      takes: ['--month', '--slo PERCENT', '--node', '--as-of'],
      notAsOf: null,
    },
    {
      name: 'incident',
      answers:
        'The recorded events around an incident of a node, in the order of time, as Markdown for a post-mortem.',
      takes: ['--node', '--from', '--to'],
      notAsOf: 'it has the current knowledge about a window',
    },
    {
      name: 'status',
      answers: 'The status page of the nodes, written to a folder as files for any web server.',
      takes: ['--out FOLDER'],
      notAsOf: 'it shows the current state of the nodes',
    },
    {
      name: 'discrepancies',
      answers: 'The open discrepancies between two sources.',
      takes: ['--from', '--to'],
      notAsOf: CHECKS_NOT_AS_OF,
    },
    {
      name: 'series-breaks',
      answers: 'The days on which the level of a metric changed abruptly and permanently.',
      takes: ['--from', '--to'],
      notAsOf: CHECKS_NOT_AS_OF,
    },
    ...allSavedQueries().map((savedQuery) => ({
      name: savedQuery.name,
      answers: savedQuery.answer.comment,
      notAsOf: savedQuery.notAsOf,
      takes: savedQueryParameters(savedQuery).map(({ name, preset }) => {
        const option = optionText(name).trim();
        return preset === undefined && name !== 'from' && name !== 'to' ? `${option}…` : `[${option}…]`;
      }),
    })),
  ];
}

/** Returns the parameters of a saved query; none for a view. */
export const savedQueryParameters = ({ answer }: SavedQuery) =>
  answer.kind === 'function' ? answer.parameters : [];

/**
 * Returns the SQL statement of a saved query.
 * @param prefixOf returns the prefix of an error message about a parameter, such as `--param metric=`
 * @throws UsageError with all problems if a value is missing, invalid, or belongs to no parameter
 */
export function savedQuerySql(savedQuery: SavedQuery, values: Values, prefixOf = optionText): string {
  const parameters = savedQueryParameters(savedQuery);
  const unknown = Object.keys(values).filter((name) => !parameters.some((one) => one.name === name));
  const problems = unknown.map((name) => {
    const why =
      name === 'as_of' && savedQuery.notAsOf !== null
        ? `accepts no past moment: ${savedQuery.notAsOf}`
        : `has no such parameter; ${suggestNames(
            name,
            parameters.map((one) => one.name),
          )}`;
    return `${prefixOf(name)}${values[name]}: ${savedQuery.name} ${why}`;
  });
  const list = parameters.flatMap(({ name, type, preset, comment }) => {
    const value = values[name];
    if (value === undefined) {
      if (preset === undefined) problems.push(`${prefixOf(name)}…: is required: ${comment}`);
      return [];
    }
    const text = literalOf(type, value);
    if (text === null) problems.push(`${prefixOf(name)}${value}: must be ${shapes[type] ?? type}`);
    return name === 'from' || name === 'to' ? [text] : [`${name} => ${text}`];
  });
  if (problems.length > 0) throw new UsageError(problems);
  const call = savedQuery.answer.kind === 'function' ? `(${list.join(', ')})` : '';
  return `select * from reporting.${savedQuery.answer.name}${call}`;
}

/** Returns the option of `report` for a parameter, without the value. */
export function optionText(name: string): string {
  const options: Readonly<Record<string, string>> = { from: '--from ', to: '--to ', as_of: '--as-of ' };
  return options[name] ?? `--param ${name}=`;
}

const shapes: Readonly<Record<string, string>> = {
  timestamptz: 'a time such as 2026-12-01T02:00',
  bigint: 'a whole number',
  numeric: 'a number',
};

/** Converts a value to SQL. Returns null if the text is not a valid value of the type. */
function literalOf(type: string, text: string): string | null {
  switch (type) {
    case 'timestamptz': {
      const instant = parseExactInstant(text);
      return instant === null ? null : literal(instant.replace(/(T\d\d:\d\d):00Z$/, '$1Z'));
    }
    case 'bigint':
      return /^\d{1,18}$/.test(text) ? text : null;
    case 'numeric':
      return /^-?\d+(\.\d+)?$/.test(text) ? text : null;
    case 'text[]':
      return `array[${text.split(',').map(literal).join(', ')}]`;
    default:
      return literal(text);
  }
}
