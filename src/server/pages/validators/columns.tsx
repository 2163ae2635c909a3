import type { ComponentChildren } from 'preact';
import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { StateBadge } from '../parts/state.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { durationWords, numberText } from '../texts.ts';

/** Remaining days of a validation, or of the balance of an L1, below which the end is marked. */
const SOON_DAYS = 14;

/** Formats an amount in AVAX without decimals; amounts below 10 AVAX with two decimals. */
export function avaxText(amount: string): string {
  const value = Number(amount);
  return value !== 0 && Math.abs(value) < 10 ? value.toFixed(2) : numberText(Math.round(value));
}

const none = '–';

/** An amount without its unit, which is in the name of the column. */
const amountCell = (amount: string | null) =>
  amount === null ? none : <span title={`${amount} AVAX`}>{avaxText(amount)}</span>;

/** The state of the node of a validator. */
export function NodeStateCell({ node, state }: MyValidator) {
  if (node === null) return <span class="soft">not configured</span>;
  return (
    <a href={serverLinks.node(node)}>
      <StateBadge is={state ?? 'unknown'}>{state ?? 'no record yet'}</StateBadge>
    </a>
  );
}

/** The uptime as observed by peers, and the uptime that the reward requires. */
function SeenUptime({ uptime, threshold, downtime_left_minutes: left }: MyValidator) {
  if (uptime === null || threshold === null) return <>{none}</>;
  const tone = left !== null && left < 0 ? 'bad' : uptime < threshold || (left ?? 0) < 1440 ? 'warn' : 'good';
  return (
    <span title={leftText(left) ?? undefined}>
      <StateBadge is={tone} tone={tone}>
        {uptime.toFixed(2)} %
      </StateBadge>{' '}
      <span class="soft">of {threshold} %</span>
    </span>
  );
}

/** Describes the remaining downtime until the reward is lost. */
export function leftText(minutes: number | null): string | null {
  if (minutes === null) return null;
  return minutes < 0
    ? 'The reward threshold can no longer be reached.'
    : `The reward is lost after ${durationWords(minutes * 60)} of further downtime.`;
}

/** A text, marked if fewer than {@link SOON_DAYS} are left. */
const marked = (days: number | null, text: ComponentChildren) =>
  days !== null && days < SOON_DAYS ? <StateBadge is="late">{text}</StateBadge> : text;

export const columns: readonly TableColumn<MyValidator>[] = [
  {
    name: 'Validator',
    cell: ({ node_id, node }) => (
      <a href={`/validators/${encodeURIComponent(node_id)}`} title={node_id}>
        {node ?? `${node_id.slice(0, 13)}…${node_id.slice(-4)}`}
      </a>
    ),
  },
  {
    name: 'Node uptime',
    about: 'State of the node, and its uptime over the last 30 days, by its health probe.',
    cell: (one) => (
      <>
        <NodeStateCell {...one} />{' '}
        {one.node_uptime !== null && <span class="soft">{(one.node_uptime * 100).toFixed(3)} %</span>}
      </>
    ),
  },
  {
    name: 'Observed uptime',
    about:
      'Lowest uptime of the validation that a configured node observed, and the uptime that the reward requires.',
    cell: SeenUptime,
  },
  { name: 'Stake (AVAX)', kind: 'number', cell: ({ stake_avax }) => amountCell(stake_avax) },
  {
    name: 'Delegated (AVAX)',
    about: 'Stake and number of the delegations.',
    kind: 'number',
    cell: ({ delegated_avax, delegations, node_id }) => (
      <>
        {amountCell(delegated_avax)}{' '}
        {delegations !== null && (
          <span class="soft">
            by{' '}
            <a href={hrefOf('/datasets/node_validator_delegators', { node_id })}>{numberText(delegations)}</a>
          </span>
        )}
      </>
    ),
  },
  {
    name: 'Free capacity (AVAX)',
    about:
      'Stake that can still be delegated. Limit of the total stake: 5 times the stake of the validator, at most 3 million AVAX.',
    kind: 'number',
    cell: ({ free_capacity_avax }) => amountCell(free_capacity_avax),
  },
  {
    name: 'Ends',
    cell: ({ end_time, days_left }) => marked(days_left, <Time at={end_time} none="not validating" />),
  },
  {
    name: 'Reward expected (AVAX)',
    about: 'Potential reward of the validation and accrued fees.',
    kind: 'number',
    cell: ({ reward_expected_avax }) => amountCell(reward_expected_avax),
  },
  {
    name: 'Rewards received (AVAX)',
    about: 'Recorded rewards and fees.',
    kind: 'number',
    cell: ({ rewards_received_avax }) => amountCell(rewards_received_avax),
  },
  {
    name: 'Blocks, 7 days',
    about: 'Proposed blocks, and the number expected from the share of the stake.',
    kind: 'number',
    cell: ({ blocks_7d: blocks, expected_blocks_7d: expected }) =>
      blocks === null ? (
        none
      ) : (
        <>
          {numberText(blocks)}{' '}
          <span class="soft">of {expected === null ? 'unknown' : numberText(Math.round(expected))}</span>
        </>
      ),
  },
  {
    name: 'Version',
    about: 'The version of the node, marked if most of the stake runs a higher version.',
    cell: ({ version, network_version: network, is_outdated }) => {
      const own = version?.replace(/^avalanchego\//, '') ?? none;
      if (!is_outdated) return own;
      return (
        <>
          <StateBadge is="outdated">{own}</StateBadge>{' '}
          <span class="soft">below {network?.replace(/^.*\//, '')}</span>
        </>
      );
    },
  },
  {
    name: 'L1 balance (AVAX)',
    about: 'The watched L1 whose balance is used up first: its remaining balance and days.',
    cell: ({ l1_validations: count, l1_balance_avax: amount, l1_days_left: days }) =>
      count === 0 || amount === null ? (
        none
      ) : (
        <>
          {amountCell(amount)}{' '}
          {days !== null && <span class="soft">{marked(days, `${Math.floor(days)} days left`)}</span>}
        </>
      ),
  },
];
