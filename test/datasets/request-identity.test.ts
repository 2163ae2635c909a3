import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import { deployedContracts } from '../../src/datasets/chain-data/deployed-contracts.ts';
import { deploymentTransactions } from '../../src/datasets/chain-data/deployment-transactions.ts';
import { erc1155Balances } from '../../src/datasets/chain-data/erc1155-balances.ts';
import { erc1155Transfers } from '../../src/datasets/chain-data/erc1155-transfers.ts';
import { evmTransactions } from '../../src/datasets/chain-data/evm-transactions.ts';
import { nativeBalanceValues } from '../../src/datasets/chain-data/native-balance-values.ts';
import { nativeBalances } from '../../src/datasets/chain-data/native-balances.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { nftTokens } from '../../src/datasets/chain-data/nft-tokens.ts';
import { primaryBalances } from '../../src/datasets/chain-data/primary-balances.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import { exampleTransaction } from '../../src/datasets/chain-data/transaction-detail.ts';
import type { Dataset, Scope, SourcePage, Target, UpstreamClient } from '../../src/datasets/contract.ts';
import { pBlockchains } from '../../src/datasets/node/p-blockchains.ts';
import { pBlocks } from '../../src/datasets/node/p-blocks.ts';
import { nodeProposals } from '../../src/datasets/node/proposals.ts';
import { validatorDelegators } from '../../src/datasets/node/validator-delegators.ts';
import { xAssets } from '../../src/datasets/node/x-assets.ts';
import { xBalances } from '../../src/datasets/node/x-balances.ts';
import { xBlocks } from '../../src/datasets/node/x-blocks.ts';
import { xTransactions } from '../../src/datasets/node/x-transactions.ts';
import { xUtxos } from '../../src/datasets/node/x-utxos.ts';
import { buildDecoder, CONTRADICTION_REASON } from '../../src/recording/decode.ts';
import { extractions } from '../every-operation/extractions.ts';
import { onDemand, truthByDataset } from '../every-operation/truth.ts';

const transaction = { nativeTransaction: { ...exampleTransaction, txHash: '0xAB' } };
const block = { ...proposedBlocks.example, proposerDetails: { proposerNodeId: 'A' } };
const [from, to] = ['0xAB', '0xCD'].map((address) => ({ address }));

/** Responses, and their requests, in which each value is stated. */
const answers: readonly (readonly [Dataset, unknown, Target])[] = [
  [evmTransactions, transaction, { chainId: '43114', txHash: '0xab' }],
  [deploymentTransactions, transaction, { chainId: '43114' }],
  [nativeBalances, { nativeTokenBalance: nativeBalances.example }, { chainId: '43114' }],
  [
    nativeBalanceValues,
    { nativeTokenBalance: { chainId: '1', ...nativeBalanceValues.example } },
    { chainId: '1' },
  ],
  [erc1155Balances, { erc1155TokenBalances: [erc1155Balances.example] }, { chainId: '43114' }],
  [
    nativeTransactions,
    { transactions: [{ ...nativeTransactions.example, from, to }] },
    { chainId: '43114', address: '0xab' },
  ],
  [erc1155Transfers, { transactions: [{ ...erc1155Transfers.example, from, to }] }, { address: '0xcd' }],
  [
    deployedContracts,
    {
      contracts: [
        {
          ...deployedContracts.example,
          deploymentDetails: { deployerAddress: '0xAB', deployerContractAddress: '0xCD' },
        },
      ],
    },
    { deployer: '0xab' },
  ],
  [
    proposedBlocks,
    { blocks: [block], chainInfo: { chainName: 'p-chain', network: 'fuji' } },
    { nodeId: 'A', blockchainId: 'p-chain', network: 'fuji' },
  ],
  [
    primaryBalances,
    { balances: { locked: [primaryBalances.example] }, chainInfo: { chainName: 'x-chain', network: 'fuji' } },
    { blockchainId: 'x-chain', network: 'fuji' },
  ],
  [stakingTransactions, { transactions: [], chainInfo: { network: 'fuji' } }, { network: 'fuji' }],
  // The same network, by its other name.
  [stakingTransactions, { transactions: [], chainInfo: { network: 'fuji' } }, { network: 'testnet' }],
  [nftTokens, { tokens: [{ ...nftTokens.example, address: '0xAB' }] }, { collection: '0xab', tokenId: '1' }],
  [xAssets, xAssets.example, { assetId: String(xAssets.example.assetID) }],
  [pBlocks, { blocks: [{ height: 7, id: 'A' }] }, { blockId: 'A', height: '7' }],
  [xBlocks, { blocks: [{ height: 7, id: 'A' }] }, { blockId: 'A', height: '7' }],
  [xTransactions, { blocks: [{ height: 7, id: 'A', txs: [{ id: 'B' }] }] }, { blockId: 'A', height: '7' }],
  [xTransactions, { blocks: [], transactions: [{ ...xTransactions.example, id: 'A' }] }, { txId: 'A' }],
  [xUtxos, { utxos: [xUtxos.example.utxo] }, { address: 'X-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5' }],
  [validatorDelegators, { validators: [{ nodeID: 'A', delegators: [] }] }, { nodeId: 'A' }],
];

it('compares each part of a request with the responses, unless they do not contain it', () => {
  const [chain, address] = ['43114', '0x1'];
  const scope: Scope = {
    ...{ network: 'mainnet', observer: 'one', shares: 1, nodes: ['node'], tags: {}, options: {} },
    watch: {
      ...{ chains: [chain], nodeIds: ['NodeID-1'], subnets: [], assets: ['asset'] },
      addresses: ['P', 'X', 'C'].map((prefix) => `${prefix}-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5`),
      evmAddresses: [{ chain, address }],
      contracts: [{ chain, address }],
      collections: [{ chain, address }],
      transactions: [{ chain, hash: '0x2' }],
    },
  };
  const unstated = catalog.map(({ name, source, states, answerStates }) => {
    const keys = new Set(source.targets(scope).flatMap((target) => Object.keys(target)));
    const parts = [...keys].filter((key) => key !== 'node' && !(key in { ...states, ...answerStates }));
    return [name, parts.sort().join(' ')];
  });
  const expected = Object.entries({ ...extractions, ...truthByDataset, ...onDemand }).map(
    ([name, { unstated = '' }]) => [name, unstated.split(' ').sort().join(' ')],
  );
  expect(Object.fromEntries(unstated)).toEqual(
    Object.fromEntries(expected.filter(([name]) => name !== 'node_health')),
  );
});

describe('a response about another object than was requested', () => {
  it.each(
    answers.flatMap(([dataset, body, target]) =>
      Object.keys(target).map((key) => [dataset.name, key, dataset, body, target] as const),
    ),
  )('is refused: %s by %s', (_name, key, dataset, body, target) => {
    expect(() => dataset.items(body, target)).not.toThrow();
    expect(() => dataset.items(body, { ...target, [key]: 'other' })).toThrow(
      /the answer is about .+, and other was requested/,
    );
  });

  it.each([
    ['network', { chainName: 'p-chain', network: 'a network of next year' }],
    ['blockchainId', { chainName: 'P-Chain', network: 'fuji' }],
  ])('is accepted for an unknown name of %s', (_, chainInfo) => {
    const target = { blockchainId: 'p-chain', network: 'testnet' };
    for (const [dataset, body] of [
      [proposedBlocks, { blocks: [block] }],
      [primaryBalances, { balances: { locked: [primaryBalances.example] } }],
    ] as const)
      expect(dataset.items({ ...body, chainInfo }, target)).toHaveLength(1);
    expect(stakingTransactions.items({ transactions: [{}], chainInfo }, target)).toHaveLength(1);
  });

  it('is detected despite a field of the same name', () => {
    const [proposal] = nodeProposals.items({ acps: { 23: { proposal: '99' } } }, { node: 'n' });
    expect(proposal).toMatchObject({ proposal: '23' });
    expect(() =>
      evmTransactions.items({ ...transaction, txHash: '0xcd' }, { chainId: '43114', txHash: '0xcd' }),
    ).toThrow('was requested');
  });
});

it('is refused per item of another owner or chain, and accepted if an item names no owner', () => {
  const target = { chainId: '43114', address: '0x1' };
  const { chainId: _, ...unstated } = erc1155Balances.example;
  const foreign = { ...erc1155Balances.example, chainId: '1', tokenId: '2' };
  const body = { erc1155TokenBalances: [foreign, erc1155Balances.example, { ...unstated, tokenId: '3' }] };
  expect(buildDecoder(erc1155Balances).page(body, target)).toMatchObject({
    rows: { length: 2 },
    refused: [{ item: foreign, reason: 'the answer is about chainId 1, and 43114 was requested' }],
  });
});

/** An upstream with the given responses by method. */
function upstreamOf(answers: Readonly<Record<string, unknown>>): UpstreamClient {
  const refuse = () => Promise.reject(new Error('not requested'));
  const rpc = async (_path: string, method: string) => answers[method] ?? {};
  return { get: refuse, post: refuse, rpc, probe: refuse, pageSize: (max) => max, now: 0 };
}

describe('one key with different contents in one response', () => {
  it.each([
    [
      'blockchains of a node',
      pBlockchains,
      {
        'platform.getBlockchains': {
          blockchains: [
            { id: 'A', name: 'one' },
            { id: 'A', name: 'two' },
          ],
        },
      },
    ],
    [
      'balances of the X-chain',
      xBalances,
      {
        'avm.getAllBalances': {
          balances: [
            { asset: 'a'.repeat(45), balance: '1' },
            { asset: 'a'.repeat(45), balance: '2' },
          ],
        },
      },
    ],
  ] as const)('is recorded as a conflict: %s', async (_, dataset: Dataset, answers) => {
    const pages: SourcePage[] = [];
    const target = { node: 'n', address: 'X-1' };
    for await (const page of dataset.source.walk(upstreamOf(answers), target, null)) pages.push(page);
    const decoded = buildDecoder(dataset).page(pages[0]?.body, target);
    expect(decoded).toMatchObject({ consistent: false, refused: [{ reason: CONTRADICTION_REASON }] });
    expect(decoded.rows).toHaveLength(1);
  });
});
