import type { Json, JsonObject } from '../json.ts';
import { between, mix, pick } from '../random.ts';
import { mintedBy, token } from './collections.ts';
import { type Contract, touchedContract } from './contracts.ts';
import type { EvmNetwork, TransactionKey } from './evm-network.ts';
import { type Currency, money, networkToken, price } from './prices.ts';
import { transfer, transfersOf } from './transfers.ts';

const DAY = 86_400;

/** Returns the fields of a transaction in lists and in single responses. */
export function native(network: EvmNetwork, key: TransactionKey): JsonObject {
  const { seed } = network;
  const { account, number } = key;
  const block = network.block(key);
  const tied = number > 0 && network.block({ account, number: number - 1 }) === block;
  const kind = pick(['NATIVE_TRANSFER', 'CONTRACT_CALL', 'CONTRACT_CALL'], seed, account, number, 11);
  const own = { address: network.address(account) };
  const other = { address: network.counterparty(number) };
  const incoming = mix(seed, account, number, 12) % 3 === 0;
  const gasUsed = kind === 'NATIVE_TRANSFER' ? 21_000 : between(seed, 40_000, 400_000, account, number, 13);
  const method = {
    callType: kind,
    methodHash: kind === 'NATIVE_TRANSFER' ? '' : '0xa9059cbb',
    methodName: kind === 'NATIVE_TRANSFER' ? undefined : 'transfer(address,uint256)',
  };
  return {
    blockNumber: String(block),
    blockTimestamp: network.blockTime(block),
    blockTimestampMilliseconds: network.blockTime(block) * 1000 + (mix(seed, block) % 1000),
    blockMinDelayExcess: 7_970_124,
    blockHash: network.blockHash(block),
    chainId: network.chain.chainId,
    blockIndex: account * 2 + (tied ? 1 : 0),
    txHash: network.hash(key),
    txStatus: mix(seed, account, number, 14) % 25 === 0 ? '0' : '1',
    txType: mix(seed, account, number, 15) % 4 === 0 ? 0 : 2,
    gasLimit: String(gasUsed + 20_000),
    gasUsed: String(gasUsed),
    gasPrice: String(between(seed, 1_000_000_001, 60_000_000_000, account, number, 16)),
    nonce: String(number),
    from: incoming ? other : own,
    to: incoming ? own : other,
    method: mix(seed, account, number, 17) % 9 === 0 ? undefined : method,
    value: kind === 'CONTRACT_CALL' ? '0' : `${between(seed, 1, 90_000, account, number, 18)}000000000000007`,
  };
}

function fees(network: EvmNetwork, about: JsonObject, input: string, key: number): JsonObject {
  const dynamic =
    about.txType === 2
      ? { maxFeePerGas: '75000000000', maxPriorityFeePerGas: String(mix(network.seed, key) % 1_000_000_000) }
      : {};
  return { ...about, input, baseFeePerGas: '25000000000', ...dynamic };
}

function tokenDetails(network: EvmNetwork, currency: Currency, at: number, now: number): JsonObject {
  const historical = now - at > DAY ? price(network, currency, at) : undefined;
  return {
    networkToken: networkToken(network),
    currentPrice: money(currency, price(network, currency, now)),
    historicalPrice: money(currency, historical),
  };
}

function erc20(
  network: EvmNetwork,
  about: JsonObject,
  number: number,
  currency: Currency,
  now: number,
): Json[] {
  const contract = touchedContract(network, 'ERC-20', number);
  const { address, name, symbol } = contract;
  const erc20Token = {
    address,
    name: network.facts.nameAt(name, now),
    symbol: network.facts.nameAt(symbol, now),
    decimals: 18,
    ercType: 'ERC-20',
    price: money(currency, price(network, currency, now, 1)),
  };
  return [
    { from: about.from, to: about.to, logIndex: 0, value: `${number + 1}000000000000000000`, erc20Token },
  ];
}

function erc721(network: EvmNetwork, about: JsonObject, number: number, at: number): Json[] {
  const contract = touchedContract(network, 'ERC-721', number);
  const i = number % Math.max(1, mintedBy(contract, at));
  return [{ from: about.from, to: about.to, logIndex: 1, erc721Token: token(network, contract, i, at) }];
}

function internal(about: JsonObject): JsonObject[] {
  const { from, to } = about;
  return [
    {
      from,
      to,
      internalTxType: 'CALL',
      value: '1000000000000000000',
      isReverted: false,
      gasUsed: '2300',
      gasLimit: '9000',
    },
    {
      from: to,
      to: from,
      internalTxType: 'CREATE2',
      value: '0',
      isReverted: true,
      gasUsed: '32000',
      gasLimit: '90000',
    },
  ];
}

/**
 * Returns a complete transaction at a time (Unix seconds). Some transactions have every optional part, some
 * have none.
 */
export function transaction(
  network: EvmNetwork,
  key: TransactionKey,
  currency: Currency,
  now: number,
): JsonObject {
  const about = native(network, key);
  const { account, number } = key;
  const at = network.blockTime(network.block(key));
  const moves = transfersOf(number).map((i) => transfer(network, account, i));
  const message = {
    teleporterMessageId: network.blockHash(number),
    direction: number % 2 === 0 ? 'SOURCE_TRANSACTION' : 'DESTINATION_TRANSACTION',
    sourceChainId: network.chain.chainId,
    destinationChainId: '43114',
  };
  return {
    erc20Transfers: number % 4 === 1 ? erc20(network, about, number, currency, now) : undefined,
    erc721Transfers: number % 7 === 2 ? erc721(network, about, number, at) : undefined,
    erc1155Transfers: moves.length === 0 ? undefined : moves,
    internalTransactions: number % 5 === 0 ? internal(about) : undefined,
    networkTokenDetails: tokenDetails(network, currency, at, now),
    nativeTransaction: fees(network, about, number % 2 === 0 ? '0x' : '0xa9059cbb00', number),
    teleporterMessageInfo: number % 11 === 0 ? message : undefined,
  };
}

/** Returns the complete transaction that deployed a contract. */
export function deployment(
  network: EvmNetwork,
  contract: Contract,
  currency: Currency,
  now: number,
): JsonObject {
  const block = network.blockAt(contract.deployedAt);
  const about = {
    blockNumber: String(block),
    blockTimestamp: network.blockTime(block),
    blockHash: network.blockHash(block),
    chainId: network.chain.chainId,
    blockIndex: 0,
    txHash: contract.deploymentHash,
    txStatus: '1',
    txType: 2,
    gasLimit: '5000000',
    gasUsed: '2871130',
    gasPrice: '27500000000',
    nonce: String(contract.number),
    from: { address: network.address(contract.account) },
    to: {
      name: contract.name,
      symbol: contract.symbol,
      decimals: 18,
      logoUri: 'https://example.org/logo.png',
      address: contract.address,
    },
    method: { callType: 'CONTRACT_CREATION', methodHash: '' },
    value: '0',
  };
  return {
    networkTokenDetails: tokenDetails(network, currency, contract.deployedAt, now),
    nativeTransaction: fees(network, about, `0x60806040${'00'.repeat(64)}`, contract.number),
  };
}
