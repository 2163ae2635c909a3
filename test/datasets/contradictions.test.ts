import { expect, it } from 'vitest';
import type { Dataset, UpstreamClient } from '../../src/datasets/contract.ts';
import { pBlockchains } from '../../src/datasets/node/p-blockchains.ts';
import { peerReadings } from '../../src/datasets/node/peer-readings.ts';
import { peers } from '../../src/datasets/node/peers.ts';
import { validatorDelegators } from '../../src/datasets/node/validator-delegators.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { xBalances } from '../../src/datasets/node/x-balances.ts';
import { xUtxos } from '../../src/datasets/node/x-utxos.ts';

const target = { node: 'n', subnetId: 's', nodeId: 'NodeID-a', address: 'X-a1a' };
const refuse = () => Promise.reject(new Error('unexpected request'));

/** Walks a dataset's source over an upstream with one response to all requests. */
async function items(dataset: Dataset, answer: unknown): Promise<number> {
  const client: UpstreamClient = {
    get: refuse,
    post: refuse,
    probe: refuse,
    rpc: async () => answer,
    pageSize: (max) => max,
    now: 0,
  };
  let count = 0;
  for await (const { body } of dataset.source.walk(client, target, null))
    count += dataset.items(body, target).length;
  return count;
}

const list = (length: number) => Array.from({ length }, (_, at) => ({ nodeID: `NodeID-${at}`, id: `${at}` }));
const validator = (more: object) => ({ validators: [{ nodeID: 'NodeID-a', ...more }] });

it.each([
  ['peers', peers, { numPeers: '3', peers: null }],
  ['peers', peers, { numPeers: 3, peers: [] }],
  ['peers', peers, { numPeers: 3, peers: list(4) }],
  ['peers', peers, { numPeers: 'three', peers: list(3) }],
  ['peers', peers, { total: 700, peers: list(10) }],
  ['peer readings', peerReadings, { numPeers: '3', peers: null }],
  ['validators', validators, { total: 700, validators: list(10) }],
  ['validators', validatorUptime, { total: 700, validators: list(10) }],
  ['delegators', validatorDelegators, validator({ delegatorCount: '2', delegators: null })],
  ['delegators', validatorDelegators, validator({ delegatorCount: '2', delegators: list(1) })],
  ['delegators', validatorDelegators, validator({ delegatorCount: '2' })],
  ['outputs', xUtxos, { numFetched: '7', utxos: null }],
  ['outputs', xUtxos, { numFetched: 0, utxos: ['0x00'] }],
  ['balances', xBalances, { total: 2, balances: [] }],
  ['blockchains', pBlockchains, { total: 2, blockchains: [] }],
])('refuses a contradictory response about %s completely (%#)', async (_, dataset, answer) => {
  await expect(items(dataset, answer)).rejects.toMatchObject({ kind: 'malformed' });
});

it.each([
  ['peers', peers, { numPeers: '3', peers: list(3) }, 3],
  ['peers', peers, { numPeers: 0, peers: null }, 0],
  ['peers', peers, { peers: null }, 0],
  ['delegators', validatorDelegators, validator({ delegatorCount: '1', delegators: [{}] }), 1],
  ['delegators', validatorDelegators, validator({ delegatorCount: '0', delegators: null }), 0],
  ['outputs', xUtxos, { numFetched: '0', utxos: null }, 0],
])('reads a consistent response about %s (%#)', async (_, dataset, answer, count) => {
  expect(await items(dataset, answer)).toBe(count);
});
