import { token } from '../evm/collections.ts';
import { cards } from '../evm/contracts.ts';
import type { EvmNetwork } from '../evm/evm-network.ts';
import { type Currency, money, networkToken, price } from '../evm/prices.ts';
import { cardBalances } from '../evm/transfers.ts';
import type { Answer } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import type { JsonObject } from '../json.ts';
import { between } from '../random.ts';
import type { DataService } from './data-service.ts';
import { addressOf, currencyOf, evmNetworkOf } from './evm-request.ts';

/** Returns the time (Unix seconds) of the blockNumber parameter, or now. */
function timeOf(network: EvmNetwork, query: Query, now: number): number {
  const block = query.integer('blockNumber', { min: 0 });
  query.check();
  return block === undefined ? now : Math.min(now, network.blockTime(block));
}

/**
 * Returns a nativeTokenBalance, which changes with every transaction. The balance of an unknown address is 0.
 */
function nativeBalance(
  network: EvmNetwork,
  account: number | undefined,
  currency: Currency,
  sec: number,
  now: number,
): JsonObject {
  const number = account === undefined ? 0 : network.countUntil(account, sec);
  const whole = account === undefined ? 0 : between(network.seed, 1, 90_000, account, number, 21);
  const each = price(network, currency, now);
  const { name, symbol, decimals, logoUri } = networkToken(network);
  return {
    name,
    symbol,
    decimals,
    logoUri,
    chainId: network.chain.chainId,
    price: money(currency, each),
    balance: whole === 0 ? '0' : `${whole}123456789012345678`,
    balanceValue: money(currency, each === undefined ? undefined : Number((each * whole).toFixed(2))),
  };
}

/** Returns the operations for the native balance and the ERC-1155 balances of an address. */
export function evmBalances({ evm: networks, tokens }: DataService): Operation[] {
  function getNative(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const account = network.account(addressOf(parts));
    const query = new Query(call.query);
    const currency = currencyOf(query);
    const sec = timeOf(network, query, nowSec(call));
    return {
      status: 200,
      document: { nativeTokenBalance: nativeBalance(network, account, currency, sec, nowSec(call)) },
    };
  }

  function listErc1155(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const account = network.account(addressOf(parts));
    const query = new Query(call.query);
    const contractAddress = query.text('contractAddress');
    const page = readPage(call, query, tokens, { max: 500, standard: 10 });
    const sec = timeOf(network, query, nowSec(call));
    const contract = cards(network);
    const isRequested =
      contractAddress === undefined || contractAddress.toLowerCase() === contract.address.toLowerCase();
    const counts =
      account === undefined || !isRequested
        ? []
        : cardBalances(network, account, network.countUntil(account, sec));
    const owned = counts.flatMap((count, id) => (count === 0 ? [] : [{ id, count }]));
    const { items, nextPageToken } = slice(owned, page, 'asc', ({ id }) => sortKey(id, contract.address));
    const erc1155TokenBalances = items.map(({ id, count }) => ({
      ...token(network, contract, id, sec),
      chainId: network.chain.chainId,
      balance: String(count),
    }));
    const nativeTokenBalance = nativeBalance(network, account, 'usd', sec, nowSec(call));
    return { status: 200, document: { nextPageToken, nativeTokenBalance, erc1155TokenBalances } };
  }

  const path = '/v1/chains/{chainId}/addresses/{address}';
  const shared = { service: 'data', units: 20, method: 'GET' } as const;
  return [
    { ...shared, name: 'getNativeBalance', path: `${path}/balances:getNative`, answer: getNative },
    { ...shared, name: 'listErc1155Balances', path: `${path}/balances:listErc1155`, answer: listErc1155 },
  ];
}
