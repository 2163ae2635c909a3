import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { StateBadge } from '../parts/state.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { durationWords, numberText } from '../texts.ts';

/** Remaining days of a validation, or of the balance of an L1, below which the end is marked. */
const SOON_DAYS = 14;

/** Returns the URL of the page of a validator. */
export const validatorHref = (nodeId: string) => `/validators/${encodeURIComponent(nodeId)}`;

/** Formats an amount in AVAX without decimals; amounts below 10 AVAX with two decimals. */
export function avaxText(amount: string): string {
  const value = Number(amount);
  return value !== 0 && Math.abs(value) < 10 ? value.toFixed(2) : numberText(Math.round(value));
}

const none = '–';
const avax = (amount: string | null) =>
  amount === null ? none : <span title={`${amount} AVAX`}>{avaxText(amount)} AVAX</span>;

/** An amount without its unit, for a column whose name contains the unit. */
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
export function SeenUptime({ uptime, threshold, downtime_left_minutes: left }: MyValidator) {
  if (uptime === null || threshold === null) return <>{none}</>;
  const tone = left !== null && left < 0 ? 'bad' : uptime < threshold || (left ?? 0) < 1440 ? 'warn' : 'good';
  return (
    <span title={leftText(left)}>
      <StateBadge is={tone} tone={tone}>
        {uptime.toFixed(2)} %
      </StateBadge>{' '}
      <span class="soft">of {threshold} %</span>
    </span>
  );
}

/** Describes the remaining downtime until the reward is lost. */
export function leftText(minutes: number | null): string | undefined {
  if (minutes === null) return undefined;
  return minutes < 0
    ? 'The reward threshold can no longer be reached.'
    : `The reward is lost after ${durationWords(minutes * 60)} of further downtime.`;
}

/** Blocks of the last 7 days, and the number expected from the share of the stake. */
export function Blocks({ blocks_7d: blocks, expected_blocks_7d: expected }: MyValidator) {
  if (blocks === null) return <>{none}</>;
  return (
    <>
      {numberText(blocks)}{' '}
      <span class="soft">of {expected === null ? 'unknown' : numberText(Math.round(expected))}</span>
    </>
  );
}

/** The version, marked if most of the stake runs a higher version. */
export function Version({ version, network_version: network, is_outdated: outdated }: MyValidator) {
  if (version === null) return <>{none}</>;
  if (!outdated) return <>{version.replace(/^avalanchego\//, '')}</>;
  return (
    <>
      <StateBadge is="outdated">{version.replace(/^avalanchego\//, '')}</StateBadge>{' '}
      <span class="soft">below {network?.replace(/^.*\//, '')}</span>
    </>
  );
}

/** The end of the validation. */
export function ValidationEnd({ end_time: end, days_left: days }: MyValidator) {
  if (end === null) return <span class="soft">none</span>;
  return days !== null && days < SOON_DAYS ? (
    <StateBadge is="late">
      <Time at={end} />
    </StateBadge>
  ) : (
    <Time at={end} />
  );
}

/** The balance and the remaining days of the L1 whose balance is used up first. */
export function L1Balance({
  l1_validations: count,
  l1_balance_avax: amount,
  l1_days_left: days,
}: MyValidator) {
  if (count === 0 || amount === null) return <>{none}</>;
  const left = days === null ? null : `${Math.floor(days)} days left`;
  return (
    <>
      {avax(amount)}{' '}
      {left !== null && (
        <span class="soft">
          {days !== null && days < SOON_DAYS ? <StateBadge is="late">{left}</StateBadge> : left}
        </span>
      )}
    </>
  );
}

/** The number of delegations, with a link to the delegations. */
function DelegationsLink({ delegations, node_id }: Pick<MyValidator, 'delegations' | 'node_id'>) {
  return (
    <a href={hrefOf('/datasets/node_validator_delegators', { node_id })}>{numberText(delegations ?? 0)}</a>
  );
}

/** The number and stake of the delegations. */
export function Delegations(one: MyValidator) {
  if (one.delegations === null) return <>{none}</>;
  return (
    <>
      <DelegationsLink {...one} /> <span class="soft">with {avax(one.delegated_avax)}</span>
    </>
  );
}

const name: TableColumn<MyValidator> = {
  name: 'Validator',
  cell: ({ node_id, node }) => (
    <a href={validatorHref(node_id)} title={node_id}>
      {node ?? `${node_id.slice(0, 13)}…${node_id.slice(-4)}`}
    </a>
  ),
};

/** The columns of the overview. */
export const overviewColumns: readonly TableColumn<MyValidator>[] = [
  name,
  { name: 'Node', evident: true, cell: NodeStateCell },
  {
    name: 'Observed uptime',
    about:
      'Lowest uptime of the validation that a configured node observed, and the uptime that the reward requires.',
    cell: SeenUptime,
  },
  { name: 'Stake (AVAX)', kind: 'number', cell: ({ stake_avax }) => amountCell(stake_avax) },
  { name: 'Ends', cell: ValidationEnd },
  {
    name: 'Blocks, 7 days',
    about: 'Proposed blocks, and the number expected from the share of the stake.',
    kind: 'number',
    cell: Blocks,
  },
  { name: 'Version', cell: Version },
  {
    name: 'L1 balance',
    about: 'The watched L1 whose balance is used up first: its remaining balance and days.',
    cell: L1Balance,
  },
];

/** The columns of the page of all validators. */
export const allColumns: readonly TableColumn<MyValidator>[] = [
  name,
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
  ...overviewColumns.slice(2, 4),
  {
    name: 'Delegated (AVAX)',
    about: 'Stake and number of the delegations.',
    kind: 'number',
    cell: ({ delegated_avax: amount, ...one }) => (
      <>
        {amountCell(amount)}{' '}
        {one.delegations !== null && (
          <span class="soft">
            by <DelegationsLink {...one} />
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
  ...overviewColumns.slice(4, 5),
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
  ...overviewColumns.slice(5),
];
