import { expect, it } from 'vitest';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { withSandbox } from '../sandbox/with-sandbox.ts';
import { extractions } from './extractions.ts';
import { onDemand, truthByDataset } from './truth.ts';

const { sandbox } = withSandbox();

/** Operations of nodes that are only a part of others: they have no dataset. */
const UNNAMED = ['platform.getHeight'];

it('every operation of the services is recorded', () => {
  const named = new Set(recorded.flatMap(({ operations }) => operations));
  // Those of the documentation: 16 of the data service, 2 of the metrics service, and 38 of nodes.
  expect(sandbox().operations.size).toBeGreaterThanOrEqual(56);
  expect([...sandbox().operations].filter((one) => !named.has(one))).toEqual(UNNAMED);
});

it('no dataset names an operation that the services do not offer', () => {
  const named = recorded.flatMap(({ operations }) => operations);
  expect(named.filter((one) => !sandbox().operations.has(one))).toEqual([]);
});

it('datasets have the expected kind of history and natural key', () => {
  const identities = Object.entries({ ...extractions, ...truthByDataset, ...onDemand }).map(
    ([name, { history, key }]) => [name, `${history} by ${key}`],
  );
  expect(
    Object.fromEntries(recorded.map((one) => [one.name, `${one.history} by ${one.key.join(' ')}`])),
  ).toEqual(Object.fromEntries(identities));
});
