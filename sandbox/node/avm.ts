import type { JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Asset } from '../network/assets.ts';
import { DAY } from '../network/periods.ts';
import { EMPTY_ID, type PrimaryChain } from '../network/primary-chains.ts';
import type { Utxo } from '../network/utxos.ts';
import { transactionHex } from './block-bytes.ts';
import { blockByHeight, blockById } from './blocks.ts';
import { blockchainId, X_FEES } from './info.ts';
import { type Methods, RpcFailure } from './json-rpc.ts';
import type { Params } from './params.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { transactionJson } from './transactions.ts';

const LIMIT = 1024;
/** The number of the X-chain. */
const X = 1;

/**
 * Returns the account of an address. Returns undefined for an address without funds; throws for an invalid
 * address.
 */
function accountOf(node: SimulatedNode, address: string): Account | undefined {
  if (!node.network.accounts.isAddress(address)) {
    throw new RpcFailure(`couldn't parse argument 'address' to address: ${address}`);
  }
  return node.network.accounts.among([address])[0];
}

function assetOf(node: SimulatedNode, id: string): Asset {
  const asset = node.network.assets.find((one, i) => one.assetId === id || (i === 0 && id === one.symbol));
  if (asset === undefined) throw new RpcFailure(`couldn't get asset ${id}: not found`);
  return asset;
}

/**
 * Returns the UTXOs in atomic memory that were exported from a chain to the X-chain and not yet imported. An
 * account has such UTXOs on some days only.
 */
function exportedUtxos(node: SimulatedNode, account: Account, from: PrimaryChain, sec: number): Utxo[] {
  const { holdings, utxos } = node.network;
  return holdings
    .atomic(account, X, sec)
    .filter(({ sharedWithChainId }) => sharedWithChainId === from.blockchainId)
    .map(({ amount }) => utxos.atomic(account, from.number, Math.floor(sec / DAY), amount));
}

/** Returns the source chain of the UTXOs in a request. Default: the X-chain. */
function sourceOf(node: SimulatedNode, params: Params): PrimaryChain {
  const name = params.text('sourceChain') || 'X';
  const chain = node.network.chain(blockchainId(node, name) ?? '');
  if (chain === undefined)
    throw new RpcFailure(`problem parsing source chainID "${name}": there is no ID with alias ${name}`);
  return chain;
}

interface Reference {
  readonly address: string;
  readonly utxo: string;
}

/** Returns the UTXOs of a list after the UTXO with an id, which may have been spent since. */
function behind(node: SimulatedNode, utxos: readonly Utxo[], id: string): readonly Utxo[] {
  const start = [...utxos, ...node.network.utxos.all].find((utxo) => utxo.id === id);
  return start === undefined
    ? utxos
    : utxos.filter((utxo) => Buffer.compare(utxo.idBytes, start.idBytes) > 0);
}

/**
 * Returns the UTXOs after `startIndex`, by address in the order of the bytes of the addresses, without
 * duplicates.
 */
function fetch(node: SimulatedNode, params: Params, sec: number): { utxos: Utxo[]; end: Reference } {
  const addresses = params.texts('addresses');
  if (addresses.length === 0) throw new RpcFailure('no addresses provided');
  if (addresses.length > LIMIT)
    throw new RpcFailure(`number of addresses given, ${addresses.length}, exceeds maximum, ${LIMIT}`);
  const source = sourceOf(node, params);
  const requestedLimit = params.integer('limit');
  const limit = requestedLimit === 0 || requestedLimit > LIMIT ? LIMIT : requestedLimit;
  const start = params.within('startIndex');
  const from: Reference = { address: start.text('address'), utxo: start.text('utxo') };
  const accounts = addresses.flatMap((address) => accountOf(node, address) ?? []);
  accounts.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  const first =
    from.address === '' ? 0 : accounts.findIndex((account) => from.address.endsWith(account.address));
  const found = new Set<Utxo>();
  let end: Reference = { address: from.address || (addresses[0] ?? ''), utxo: from.utxo || EMPTY_ID };
  for (const [i, account] of accounts.entries()) {
    if (i < Math.max(0, first)) continue;
    const own =
      source.number === X ? node.network.utxos.of(account, sec) : exportedUtxos(node, account, source, sec);
    for (const utxo of i === first ? behind(node, own, from.utxo) : own) {
      if (found.size >= limit) return { utxos: [...found], end };
      found.add(utxo);
      end = { address: `X-${account.address}`, utxo: utxo.id };
    }
  }
  return { utxos: [...found], end };
}

function transaction(
  node: SimulatedNode,
  chain: PrimaryChain,
  id: string,
  encoding: string,
  sec: number,
): JsonObject {
  const number = node.network.blocks(chain).transactionOf(id, sec);
  if (number === undefined) throw new RpcFailure(`couldn't get tx ${id}: not found`);
  const tx =
    encoding === 'json'
      ? transactionJson(node.network, chain, number)
      : transactionHex(node.network, chain, number);
  return { tx, encoding };
}

/** Returns the methods of the X-chain API of a node. */
export function avmMethods(node: SimulatedNode, chain: PrimaryChain): Methods {
  const { network } = node;
  const blocks = network.blocks(chain);
  const encodings = ['hex', 'json'];
  return {
    'avm.getAllBalances': (params, sec) => {
      const account = accountOf(node, params.text('address'));
      const holdings = account === undefined ? [] : network.holdings.onX(account, sec);
      const name = (asset: Asset): string => (asset === network.assets[0] ? asset.symbol : asset.assetId);
      return {
        balances: holdings.map(({ asset, amount }) => ({ asset: name(asset), balance: String(amount) })),
      };
    },
    'avm.getAssetDescription': (params, sec) => {
      const { assetId, name, symbol, denomination } = assetOf(node, params.text('assetID'));
      return {
        assetID: assetId,
        name: network.facts.nameAt(name, sec),
        symbol: network.facts.nameAt(symbol, sec),
        denomination: String(denomination),
      };
    },
    'avm.getBalance': (params, sec) => {
      const account = accountOf(node, params.text('address'));
      const asset = assetOf(node, params.text('assetID'));
      const own =
        account === undefined ? [] : network.utxos.of(account, sec).filter((utxo) => utxo.asset === asset);
      const balance = own.reduce((sum, utxo) => sum + utxo.amount, 0n);
      return {
        balance: String(balance),
        utxoIDs: own.map(({ txId, outputIndex }) => ({ txID: txId, outputIndex })),
      };
    },
    'avm.getBlock': (params, sec) =>
      blockById(network, chain, params.id('blockID'), params.encoding(encodings), sec),
    'avm.getBlockByHeight': (params, sec) =>
      blockByHeight(network, chain, params.integer('height'), params.encoding(encodings), sec),
    'avm.getHeight': (_, sec) => ({ height: String(blocks.heightAt(sec)) }),
    'avm.getTx': (params, sec) =>
      transaction(node, chain, params.id('txID'), params.encoding(encodings), sec),
    'avm.getTxFee': () => ({ ...X_FEES }),
    'avm.getTxStatus': (params, sec) => {
      const id = params.id('txID');
      if (id === '') throw new RpcFailure("argument 'txID' not given");
      if (blocks.transactionOf(id, sec) !== undefined) return { status: 'Accepted' };
      return { status: blocks.transactionOf(id, sec + 10) === undefined ? 'Unknown' : 'Processing' };
    },
    'avm.getUTXOs': (params, sec) => {
      const encoding = params.encoding(['hex']);
      const { utxos, end } = fetch(node, params, sec);
      return {
        numFetched: String(utxos.length),
        utxos: utxos.map((utxo) => utxo.hex),
        endIndex: { ...end },
        encoding,
      };
    },
  };
}
