import { namedBytes } from '../ids/base58.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import { EMPTY_ID, type PrimaryChain } from '../network/primary-chains.ts';
import { between, mix } from '../random.ts';

const FX = 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ';

/** An amount: a raw JSON integer in the answers, in one of seven cases beyond 2^53 (node seed 2). */
function amount(network: Network, number: number): bigint {
  const large = mix(network.seed, number, 101) % 7 === 0;
  return large
    ? 9_007_199_254_740_993n + BigInt(number)
    : BigInt(between(network.seed, 1_000_000, 900_000_000_000, number, 102));
}

function output(network: Network, chain: PrimaryChain, number: number, value: bigint): JsonObject {
  const letter = chain.number === 0 ? 'P' : 'X';
  const addresses = [`${letter}-${network.accounts.of(number, 103).address}`];
  const assetID = network.assets[value > 9_007_199_254_740_991n && chain.number === 1 ? 1 : 0]?.assetId ?? '';
  return { assetID, fxID: FX, output: { addresses, amount: value, locktime: 0, threshold: 1 } };
}

function input(network: Network, chain: PrimaryChain, number: number, value: bigint): JsonObject {
  const txID = network.blocks(chain).transactionId(Math.max(0, number - 40));
  const { assetID, fxID } = output(network, chain, number, value);
  return { txID, outputIndex: number % 3, assetID, fxID, input: { amount: value, signatureIndices: [0] } };
}

function signature(network: Network, number: number): string {
  return `0x${Buffer.from(namedBytes(network.seed, `signature ${number}`, 65)).toString('hex')}`;
}

/** What tells transactions apart: imports, exports and, on the P-chain, changes of an L1 validator's weight. */
function special(network: Network, chain: PrimaryChain, number: number, value: bigint): JsonObject {
  const other = chain.number === 0 ? (network.chain('x-chain')?.blockchainId ?? '') : EMPTY_ID;
  switch (mix(network.seed, number, 104) % 4) {
    case 0:
      return { destinationChain: other, exportedOutputs: [output(network, chain, number, value)] };
    case 1:
      return { sourceChain: other, importedInputs: [input(network, chain, number, value)] };
    default:
      return {};
  }
}

/** The transaction with a number on the P- or X-chain, in the json encoding (node seed 2). */
export function transactionJson(network: Network, chain: PrimaryChain, number: number): JsonObject {
  const value = amount(network, number);
  const base = {
    networkID: network.name === 'mainnet' ? 1 : 5,
    blockchainID: chain.blockchainId,
    outputs: [output(network, chain, number, value)],
    inputs: [input(network, chain, number, value + 1_000_000n)],
    memo: number % 5 === 0 ? '0x73616e64626f78' : '0x',
    ...special(network, chain, number, value),
  };
  const signatures: Json = [signature(network, number)];
  const credential = chain.number === 0 ? { signatures } : { fxID: FX, credential: { signatures } };
  return { unsignedTx: base, credentials: [credential], id: network.blocks(chain).transactionId(number) };
}
