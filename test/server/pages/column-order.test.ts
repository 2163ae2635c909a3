import { expect, it } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { orderTableColumns } from '../../../src/server/pages/datasets/rows-table.tsx';

const datasets = [...getCatalogue().datasets.values()];
const namesOf = (dataset: (typeof datasets)[number]) =>
  orderTableColumns(dataset.now.columns, dataset).map(({ name }) => name);

it.each(datasets)('the table of $name starts with its key, and keeps every column', (dataset) => {
  const names = namesOf(dataset);
  expect(names.toSorted()).toEqual(dataset.now.columns.map(({ name }) => name).toSorted());
  expect(dataset.key).toContain(names[0]);
  const observer = dataset.request.includes('observer') ? 'observer' : 'node';
  if (dataset.key.length > 1) expect(names[0]).not.toBe(observer);
});

it('numbers follow the key, and the observer is last', () => {
  const order = Object.fromEntries(datasets.map((dataset) => [dataset.name, namesOf(dataset)]));
  expect(order.validator_uptime?.slice(0, 3)).toEqual(['node_id', 'uptime', 'subnet_id']);
  expect(order.validator_uptime?.at(-1)).toBe('node');
  expect(order.validators?.slice(0, 3)).toEqual(['node_id', 'weight', 'stake_navax']);
  expect(order.erc1155_balances?.slice(0, 3)).toEqual(['contract', 'token_id', 'balance']);
  expect(order.metric_points?.slice(0, 5)).toEqual([
    ...['bucket_start', 'chain_id', 'metric', 'time_interval', 'value'],
  ]);
  expect(order.node_health?.at(-1)).toBe('observer');
  expect(order.node_identity?.[0]).toBe('node');
});
