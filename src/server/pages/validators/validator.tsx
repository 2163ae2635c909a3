import { z } from 'zod';
import { PRIMARY_NETWORK } from '../../../datasets/node/current-validators.ts';
import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { definePage } from '../page.ts';
import { Empty } from '../parts/empty.tsx';
import { KeyValues } from '../parts/key-values.tsx';
import { Time } from '../parts/time.tsx';
import { type ChartSection, readValidatorCharts, ValidatorChart } from './charts.tsx';
import {
  avaxText,
  Blocks,
  Delegations,
  L1Balance,
  leftText,
  NodeStateCell,
  SeenUptime,
  ValidationEnd,
  Version,
} from './columns.tsx';

interface ValidatorData {
  readonly validator: MyValidator;
  readonly charts: readonly ChartSection[];
}

/** `/validators/NODEID`: a validator of the user, with charts of the last 30 days. */
export const validatorPage = definePage({
  path: '/validators/:node_id',
  params: z.strictObject({ node_id: z.string() }),
  async read({ validators, read, clock }, { node_id }): Promise<ValidatorData | null> {
    const found = (await validators()).find((one) => one.node_id === node_id);
    if (!found) return null;
    return { validator: found, charts: await read((sql) => readValidatorCharts(sql, found, clock)) };
  },
  content: ({ validator: one, charts }) => ({
    title: `${one.node ?? one.node_id} · My validators`,
    crumbs: [{ href: '/validators', label: 'My validators' }],
    body: (
      <>
        <div class="stack">
          <div class="head">
            <h1>{one.node ?? 'Validator'}</h1>
            <NodeStateCell {...one} />
          </div>
          <p class="break">
            <code>{one.node_id}</code>
          </p>
        </div>
        <Facts of={one} />
        {charts.length === 0 && (
          <Empty>
            {one.end_time === null && 'This node does not validate on the primary network. '}Charts appear
            with the first recorded data.
          </Empty>
        )}
        {charts.map((section) => (
          <ValidatorChart section={section} />
        ))}
        <section aria-labelledby="more">
          <h2 id="more">Recorded data</h2>
          <ul>
            {links(one).map(([href, label]) => (
              <li>
                <a href={href}>{label}</a>
              </li>
            ))}
          </ul>
        </section>
      </>
    ),
  }),
});

const amount = (avax: string | null) => (avax === null ? null : `${avaxText(avax)} AVAX`);

function Facts({ of: one }: { readonly of: MyValidator }) {
  return (
    <KeyValues
      of={[
        [
          'Uptime of the node, 30 days',
          one.node_uptime === null ? null : `${(one.node_uptime * 100).toFixed(3)} %`,
        ],
        ['Uptime seen by peers', <SeenUptime {...one} />],
        ['Seen by', one.uptime_seen_by],
        ['Downtime left', leftText(one.downtime_left_minutes) ?? null],
        ['Stake that supports the reward', one.rewarding_stake === null ? null : `${one.rewarding_stake} %`],
        ['Stake', amount(one.stake_avax)],
        ['Delegations', <Delegations {...one} />],
        ['Free capacity', amount(one.free_capacity_avax)],
        ['Validation ends', <ValidationEnd {...one} />],
        ['End', one.end_time === null ? null : <Time at={one.end_time} exact />],
        ['Reward expected', amount(one.reward_expected_avax)],
        ['Rewards received', amount(one.rewards_received_avax)],
        ['Blocks in 7 days, of the expected number', <Blocks {...one} />],
        ['Version', <Version {...one} />],
        ['Version with the most stake', one.network_version],
        ['L1 balance', one.l1_validations === 0 ? null : <L1Balance {...one} />],
      ]}
    />
  );
}

function links({ node_id, node }: MyValidator): (readonly [href: string, label: string])[] {
  return [
    [
      hrefOf('/datasets/node_validators_history', { node_id, subnet_id: PRIMARY_NETWORK }),
      'Versions of the validation',
    ],
    [hrefOf('/datasets/node_validator_delegators', { node_id }), 'Delegations'],
    [hrefOf('/datasets/rewards', { node_id }), 'Rewards, expected and received'],
    [hrefOf('/datasets/proposed_blocks', { proposer_node_id: node_id }), 'Proposed blocks'],
    [hrefOf('/datasets/l1_runway', { node_id }), 'Balances on L1s'],
    ...(node === null ? [] : [[`/status/${encodeURIComponent(node)}`, 'Node health'] as const]),
  ];
}
