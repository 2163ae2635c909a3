import { describe, expect, it } from 'vitest';
import { matchingTargets } from '../../../src/cli/commands/targets.ts';
import { aggregatedSignatures } from '../../../src/datasets/chain-data/aggregated-signatures.ts';
import { nftTokens } from '../../../src/datasets/chain-data/nft-tokens.ts';
import type { Dataset, Scope, Target } from '../../../src/datasets/contract.ts';
import { metricPoints } from '../../../src/datasets/metrics/metric-points.ts';
import { pBlocks } from '../../../src/datasets/node/p-blocks.ts';
import { UsageError } from '../../../src/lib/errors.ts';
import { withDefaultSettings } from '../../../src/recording/active-feed.ts';

const ADDRESS = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';
const scope: Scope = {
  network: 'mainnet',
  observer: 'test',
  shares: 1,
  watch: {
    chains: ['43114', '43113'],
    nodeIds: [],
    subnets: [],
    addresses: [],
    evmAddresses: [],
    contracts: [],
    collections: [{ chain: '43114', address: ADDRESS.toLowerCase() }],
    transactions: [],
    assets: [],
  },
  nodes: ['one', 'two'],
  tags: {},
  options: {},
};

const matchTargets = ({ source, ...dataset }: Dataset, ...texts: string[]): readonly Target[] =>
  matchingTargets(
    withDefaultSettings({ source, datasets: [{ source, ...dataset }] }, source.targets(scope)),
    scope,
    texts,
  );

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.problems.join('\n');
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('--target', () => {
  it('accepts keys in both spellings', () => {
    const target = { chainId: '43114', metric: 'txCount', timeInterval: 'day' };
    for (const [chain, interval] of [
      ['chainId', 'timeInterval'],
      ['chain_id', 'time_interval'],
    ])
      expect(matchTargets(metricPoints, `${chain}=43114`, 'metric=txCount', `${interval}=day`)).toEqual([
        target,
      ]);
    expect(matchTargets(pBlocks, 'node=one', 'block_id=abc')).toEqual([{ node: 'one', blockId: 'abc' }]);
  });

  it('accepts EVM addresses in any case, for watched and on-demand targets', () => {
    const list = { chainId: '43114', collection: ADDRESS.toLowerCase() };
    for (const text of [ADDRESS, ADDRESS.toLowerCase(), `0x${ADDRESS.slice(2).toUpperCase()}`]) {
      expect(matchTargets(nftTokens, `collection=${text}`)).toEqual([list]);
      expect(matchTargets(nftTokens, 'chain_id=43114', `collection=${text}`, 'token_id=7')).toEqual([
        { ...list, tokenId: '7' },
      ]);
    }
  });

  it('reports the keys and some of their values for an unknown key', () => {
    const message = refusal(() => matchTargets(metricPoints, 'chain=43114'));
    expect(message).toContain('--target chain=43114: no such key');
    expect(message).toContain('chainId (43113, 43114)');
    expect(message).toContain('timeInterval (day, hour, month, week)');
    expect(message).toMatch(/metric \(activeAddresses, .* and 12 more\)/);
  });

  it('reports some existing values for an unknown value', () => {
    const message = refusal(() => matchTargets(metricPoints, 'metric=txCount', 'chain_id=1'));
    expect(message).toBe('--target chainId=1: no target matches; chainId may be 43113, 43114');
  });

  it('reports values that never occur together', () => {
    const message = refusal(() => matchTargets(metricPoints, 'metric=feesPaid', 'timeInterval=hour'));
    expect(message).toContain('metric=feesPaid timeInterval=hour: no target matches all of them together');
  });

  it('reports both alternatives if it matches neither watched nor on-demand targets', () => {
    expect(refusal(() => matchTargets(pBlocks, 'node=three'))).toMatch(
      /exactly one of blockId, height[\s\S]*node may be one, two/,
    );
    const token = refusal(() => matchTargets(nftTokens, 'collection=0x12'));
    expect(token).toContain('tokenId: must be a token id');
    expect(token).toContain(`collection may be ${ADDRESS.toLowerCase()}`);
  });

  it('is required for on-demand sources only, and the error names them', () => {
    expect(refusal(() => matchTargets(aggregatedSignatures))).toBe(
      '--target message: is required: give message, justification or txHash',
    );
  });

  it('is refused if it is no pair or repeats a key; all errors are reported at once', () => {
    const message = refusal(() => matchTargets(metricPoints, 'txCount', '=1', 'chainId=1', 'chain_id=2'));
    expect(message.split('\n')).toHaveLength(3);
    expect(message).toContain('chainId is given twice');
  });
});
