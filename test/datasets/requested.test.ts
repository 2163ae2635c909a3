import { describe, expect, it } from 'vitest';
import { deploymentTransactions } from '../../src/datasets/chain-data/deployment-transactions.ts';
import { evmTransactions } from '../../src/datasets/chain-data/evm-transactions.ts';
import { nativeBalances } from '../../src/datasets/chain-data/native-balances.ts';
import { exampleTransaction } from '../../src/datasets/chain-data/transaction-detail.ts';
import type { Ask, Dataset, Page } from '../../src/datasets/contract.ts';
import { networkProposals } from '../../src/datasets/node/network-proposals.ts';
import { nodeBlockchains } from '../../src/datasets/node/node-blockchains.ts';
import { validatorDelegators } from '../../src/datasets/node/validator-delegators.ts';
import { xAssets } from '../../src/datasets/node/x-assets.ts';
import { xBalances } from '../../src/datasets/node/x-balances.ts';
import { buildDecoder, CONTRADICTS } from '../../src/recording/decode.ts';

const transaction = { nativeTransaction: { ...exampleTransaction, txHash: '0xAB' } };

describe('an answer about another thing than was requested', () => {
  it.each([
    ['a transaction', evmTransactions, { chainId: '43114', txHash: '0xcd' }, transaction],
    ['a chain', evmTransactions, { chainId: '1', txHash: '0xab' }, transaction],
    ['a deployment on another chain', deploymentTransactions, { chainId: '1', address: '0x1' }, transaction],
    [
      'a balance',
      nativeBalances,
      { chainId: '1', address: '0x1' },
      { nativeTokenBalance: { chainId: '43114' } },
    ],
    ['an asset', xAssets, { node: 'n', assetId: 'A' }, { assetID: 'B', symbol: 'B' }],
    ['delegations', validatorDelegators, { nodeId: 'A' }, { validators: [{ nodeID: 'B', delegators: [] }] }],
  ] as const)('is refused: %s', (_, dataset: Dataset, target, body) => {
    expect(() => dataset.items(body, target)).toThrow(/the answer is about .+ was requested/);
  });

  it('is none where only the spelling differs, or the answer does not say what it is about', () => {
    expect(evmTransactions.items(transaction, { chainId: '43114', txHash: '0xab' })).toHaveLength(1);
    expect(xAssets.items({ symbol: 'A' }, { node: 'n', assetId: 'A' })).toHaveLength(1);
  });

  it('cannot hide behind a field of the same name', () => {
    const [proposal] = networkProposals.items({ acps: { 23: { proposal: '99' } } }, { node: 'n' });
    expect(proposal).toMatchObject({ proposal: '23' });
    expect(() =>
      evmTransactions.items({ ...transaction, txHash: '0xcd' }, { chainId: '43114', txHash: '0xcd' }),
    ).toThrow('was requested');
  });
});

/** An upstream whose methods answer as given. */
function asking(answers: Readonly<Record<string, unknown>>): Ask {
  const refuse = () => Promise.reject(new Error('not requested'));
  const rpc = async (_path: string, method: string) => answers[method] ?? {};
  return { get: refuse, post: refuse, rpc, probe: refuse, pageSize: (most) => most, now: 0 };
}

describe('one key twice with different contents in one answer', () => {
  it.each([
    [
      'blockchains of a node',
      nodeBlockchains,
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
  ] as const)('is a conflict that is recorded: %s', async (_, dataset: Dataset, answers) => {
    const pages: Page[] = [];
    const target = { node: 'n', address: 'X-1' };
    for await (const page of dataset.source.walk(asking(answers), target, null)) pages.push(page);
    const decoded = buildDecoder(dataset).page(pages[0]?.body, target);
    expect(decoded).toMatchObject({ consistent: false, refused: [{ reason: CONTRADICTS }] });
    expect(decoded.rows).toHaveLength(1);
  });
});
