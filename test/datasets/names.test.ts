import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnName, snakeCase } from '../../src/datasets/names.ts';

describe('snakeCase', () => {
  it.each([
    ['nodeId', 'node_id'],
    ['nodeID', 'node_id'],
    ['utxoIDs', 'utxo_ids'],
    ['txID', 'tx_id'],
    ['timestamp', 'timestamp'],
    ['proposerPChainHeight', 'proposer_p_chain_height'],
    ['l1ValidatorsAccruedFees', 'l1_validators_accrued_fees'],
    ['activeL1Validators', 'active_l1_validators'],
    ['ERC20Transfers', 'erc20_transfers'],
    ['evmChainId', 'evm_chain_id'],
    ['rpcProtocolVersion', 'rpc_protocol_version'],
    ['isBootstrapped', 'is_bootstrapped'],
    ['genesisData', 'genesis_data'],
    ['nodePOP', 'node_pop'],
    ['vmVersions', 'vm_versions'],
    ['already_snake', 'already_snake'],
  ])('%s → %s', (name, expected) => {
    expect(snakeCase(name)).toBe(expected);
  });

  it('returns a name that PostgreSQL accepts without quotes, and is idempotent', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][A-Za-z0-9]{0,40}$/), (name) => {
        const snake = snakeCase(name);
        expect(snake).toMatch(/^[a-z][a-z0-9_]*$/);
        expect(snakeCase(snake)).toBe(snake);
        expect(snake.replaceAll('_', '')).toBe(name.toLowerCase());
      }),
    );
  });
});

describe('columnName', () => {
  it.each([
    [['weight'], 'weight'],
    [['proposerDetails', 'proposerNodeId'], 'proposer_node_id'],
    [['signer', 'publicKey'], 'signer_public_key'],
    [['nodePOP', 'publicKey'], 'node_pop_public_key'],
    [['validationRewardOwner', 'threshold'], 'validation_reward_owner_threshold'],
    [['a', 'b', 'c'], 'a_b_c'],
  ])('%j → %s', (path, expected) => {
    expect(columnName(path)).toBe(expected);
  });
});
