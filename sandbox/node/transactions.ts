import { namedBytes } from '../ids/base58.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';
import { EMPTY_ID, NETWORK_ID, type PrimaryChain } from '../network/primary-chains.ts';
import { between, mix } from '../random.ts';

const FX = 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ';

/**
 * Returns the amount of a transaction. One amount of seven exceeds 2^53; amounts are raw JSON integers in the
 * responses.
 */
function amount(network: Network, number: number): bigint {
  const large = mix(network.seed, number, 101) % 7 === 0;
  return large
    ? 9_007_199_254_740_993n + BigInt(number)
    : BigInt(between(network.seed, 1_000_000, 900_000_000_000, number, 102));
}

/** Inputs and outputs of a transaction, for the json encoding and the bytes. */
export interface Transfer {
  readonly id: string;
  readonly networkId: number;
  readonly kind: 'base' | 'import' | 'export';
  /** The chain to which the transaction exports, or from which it imports. */
  readonly otherChain: string | undefined;
  readonly output: { readonly assetId: string; readonly amount: bigint; readonly owner: Account };
  readonly spent: Spent;
  /** Input of an import, derived from the same value as the output. */
  readonly input: Spent;
  /** Memo, in `0x` hex. */
  readonly memo: string;
  readonly signature: string;
}

interface Spent {
  readonly txId: string;
  readonly outputIndex: number;
  readonly assetId: string;
  readonly amount: bigint;
}

function assetIdOf(network: Network, chain: PrimaryChain, value: bigint): string {
  return network.assets[value > 9_007_199_254_740_991n && chain.number === 1 ? 1 : 0]?.assetId ?? '';
}

function signature(network: Network, number: number): string {
  return `0x${Buffer.from(namedBytes(network.seed, `signature ${number}`, 65)).toString('hex')}`;
}

/** Returns the transaction with a number on the P- or X-chain. */
export function transferOf(network: Network, chain: PrimaryChain, number: number): Transfer {
  const value = amount(network, number);
  const blocks = network.blocks(chain);
  const spent = (of: bigint): Spent => ({
    txId: blocks.transactionId(Math.max(0, number - 40)),
    outputIndex: number % 3,
    assetId: assetIdOf(network, chain, of),
    amount: of,
  });
  const other = chain.number === 0 ? (network.chain('x-chain')?.blockchainId ?? '') : EMPTY_ID;
  const kind = (['export', 'import'] as const)[mix(network.seed, number, 104) % 4] ?? 'base';
  return {
    id: blocks.transactionId(number),
    networkId: NETWORK_ID[network.name],
    kind,
    otherChain: kind === 'base' ? undefined : other,
    output: {
      assetId: assetIdOf(network, chain, value),
      amount: value,
      owner: network.accounts.of(number, 103),
    },
    spent: spent(value + 1_000_000n),
    input: spent(value),
    memo: number % 5 === 0 ? '0x73616e64626f78' : '0x',
    signature: signature(network, number),
  };
}

function outputJson({ assetId, amount: value, owner }: Transfer['output'], chain: PrimaryChain): JsonObject {
  const addresses = [`${chain.number === 0 ? 'P' : 'X'}-${owner.address}`];
  return { assetID: assetId, fxID: FX, output: { addresses, amount: value, locktime: 0, threshold: 1 } };
}

function inputJson({ txId, outputIndex, assetId, amount: value }: Spent): JsonObject {
  const input = { amount: value, signatureIndices: [0] };
  return { txID: txId, outputIndex, assetID: assetId, fxID: FX, input };
}

/** Additional fields of imports and exports. */
function special({ kind, otherChain, output, input }: Transfer, chain: PrimaryChain): JsonObject {
  if (kind === 'export')
    return { destinationChain: otherChain, exportedOutputs: [outputJson(output, chain)] };
  return kind === 'import' ? { sourceChain: otherChain, importedInputs: [inputJson(input)] } : {};
}

/** Returns the transaction with a number on the P- or X-chain, in the json encoding. */
export function transactionJson(network: Network, chain: PrimaryChain, number: number): JsonObject {
  const transfer = transferOf(network, chain, number);
  const base = {
    networkID: transfer.networkId,
    blockchainID: chain.blockchainId,
    outputs: [outputJson(transfer.output, chain)],
    inputs: [inputJson(transfer.spent)],
    memo: transfer.memo,
    ...special(transfer, chain),
  };
  const signatures: Json = [transfer.signature];
  const credential = chain.number === 0 ? { signatures } : { fxID: FX, credential: { signatures } };
  return { unsignedTx: base, credentials: [credential], id: transfer.id };
}
