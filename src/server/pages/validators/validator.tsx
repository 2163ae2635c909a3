import { z } from 'zod';
import { PRIMARY_NETWORK } from '../../../datasets/node/current-validators.ts';
import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { hrefOf } from '../datasets/addresses.ts';
import { relationPath } from '../datasets/relation-head.tsx';
import { definePage } from '../page.ts';
import { KeyValues } from '../parts/key-values.tsx';
import { LinkList, type ListedLink } from '../parts/link-list.tsx';
import { Empty } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { readValidatorCharts, ValidatorChart } from './charts.tsx';
import { columns, leftText, NodeStateCell } from './columns.tsx';

/** `/validators/NODEID`: a validator of the user, with charts of the last 30 days. */
export const validatorPage = definePage({
  path: '/validators/:node_id',
  params: z.strictObject({ node_id: z.string() }),
  async read({ validators, read, clock }, { node_id }) {
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
        <KeyValues
          of={[
            ...columns.slice(1).map(({ name, cell }) => [name, cell(one)] as const),
            ['Uptime observed by', one.uptime_seen_by],
            ['Downtime left', leftText(one.downtime_left_minutes)],
            ['Stake that supports the reward', one.rewarding_stake && `${one.rewarding_stake} %`],
            ['Exact end', one.end_time && <Time at={one.end_time} exact />],
          ]}
        />
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
          <LinkList links={links(one)} />
        </section>
      </>
    ),
  }),
});

function links({ node_id, node }: MyValidator): ListedLink[] {
  const rows = (label: string, name: string, parameters: Readonly<Record<string, string>>) => ({
    href: hrefOf(relationPath(name), parameters),
    label,
  });
  return [
    rows('Versions of the validation', 'node_validators_history', { node_id, subnet_id: PRIMARY_NETWORK }),
    rows('Delegations', 'node_validator_delegators', { node_id }),
    rows('Rewards, expected and received', 'rewards', { node_id }),
    rows('Proposed blocks', 'proposed_blocks', { proposer_node_id: node_id }),
    rows('Balances on L1s', 'l1_runway', { node_id }),
    ...(node === null ? [] : [{ href: serverLinks.node(node), label: 'Node health' }]),
  ];
}
