import { namedBytes } from '../ids/base58.ts';
import { evmAddress } from '../ids/evm-address.ts';
import type { JsonObject } from '../json.ts';
import type { SubnetChain } from './subnets.ts';

const ZERO_HASH = `0x${'0'.repeat(64)}`;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

function address(key: number): string {
  return evmAddress(namedBytes(77, `genesis ${key}`, 20));
}

function forks(): JsonObject {
  const names =
    'homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul muirGlacier berlin london';
  return Object.fromEntries(names.split(' ').map((name) => [`${name}Block`, 0]));
}

/** Returns an allow-list configuration that starts at the genesis (Unix seconds). */
function allowList(sec: number, key: number): JsonObject {
  return {
    blockTimestamp: sec,
    adminAddresses: [address(key)],
    managerAddresses: [],
    enabledAddresses: [address(key + 1)],
  };
}

/**
 * Returns the genesis of a subnet's chain: an object for an EVM chain, the VM's own encoding in a string for
 * any other. If the EVM chain id is odd, the object has every key; otherwise only the required keys.
 */
export function genesisData(chain: SubnetChain, sec: number): JsonObject | string {
  const { evmChainId } = chain;
  if (evmChainId === undefined) return Buffer.from(`${chain.name} starts at ${sec}`).toString('base64');
  const full = evmChainId % 2 === 1;
  const feeConfig = {
    gasLimit: full ? 9_007_199_254_740_993n : 15_000_000,
    targetBlockRate: 2,
    minBaseFee: 25_000_000_000,
    targetGas: 15_000_000,
    baseFeeChangeDenominator: 36,
    minBlockGasCost: 0,
    maxBlockGasCost: 1_000_000,
    blockGasCostStep: 200_000,
  };
  const lists = {
    warpConfig: { blockTimestamp: sec, quorumNumerator: 67, requirePrimaryNetworkSigners: true },
    txAllowListConfig: allowList(sec, evmChainId),
    contractDeployerAllowListConfig: allowList(sec, evmChainId + 2),
    contractNativeMinterConfig: allowList(sec, evmChainId + 4),
    feeManagerConfig: allowList(sec, evmChainId + 6),
    rewardManagerConfig: allowList(sec, evmChainId + 8),
  };
  const config = {
    chainId: evmChainId,
    ...forks(),
    eip150Hash: ZERO_HASH,
    subnetEVMTimestamp: 0,
    allowFeeRecipients: full,
    feeConfig,
    ...(full ? lists : {}),
  };
  const alloc: JsonObject = {
    [address(evmChainId)]: { balance: '0x52b7d2dcc80cd2e4000000' },
    [address(evmChainId + 1)]: {
      balance: '0x0',
      code: '0x60806040',
      storage: { [ZERO_HASH]: `0x${'0'.repeat(63)}1` },
    },
  };
  const head = {
    config,
    nonce: '0x0',
    timestamp: `0x${sec.toString(16)}`,
    extraData: '0x',
    gasLimit: '0xe4e1c0',
    difficulty: '0x0',
    mixHash: ZERO_HASH,
    coinbase: ZERO_ADDRESS,
    alloc,
  };
  if (!full) return head;
  const nothing = { airdropAmount: null, baseFeePerGas: null, excessBlobGas: null, blobGasUsed: null };
  return {
    ...head,
    airdropHash: ZERO_HASH,
    number: '0x0',
    gasUsed: '0x0',
    parentHash: ZERO_HASH,
    ...nothing,
  };
}
