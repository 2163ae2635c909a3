import type { EvmNetwork } from '../evm/evm-network.ts';
import { native } from '../evm/transactions.ts';
import { transactionOf, transfer, transfersIn } from '../evm/transfers.ts';
import type { Answer } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { type Numbers, type Page, readPage, sliceNumbers } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import type { JsonObject } from '../json.ts';
import type { DataService } from './data-service.ts';
import { addressOf, evmNetworkOf, transactionsIn } from './evm-request.ts';

const SIZES = { max: 100, standard: 10 };

/** Returns the page of a range of numbered items, the last first. */
function newestFirst(range: Numbers, page: Page, item: (i: number) => JsonObject): JsonObject {
  const { items, nextPageToken } = sliceNumbers(range, page);
  return { nextPageToken, transactions: items.map(item) };
}

function erc1155Item(network: EvmNetwork, account: number, i: number): JsonObject {
  const about = native(network, { account, number: transactionOf(i) });
  const { blockNumber, blockTimestamp, blockTimestampMilliseconds, blockHash, txHash } = about;
  return {
    blockNumber,
    blockTimestamp,
    blockTimestampMilliseconds,
    blockHash,
    txHash,
    ...transfer(network, account, i),
  };
}

/** Returns the operations for lists of an address: native transactions and ERC-1155 transfers. */
export function evmLists({ evm: networks, tokens }: DataService): Operation[] {
  function list(
    call: Call,
    parts: PathParts,
    items: (network: EvmNetwork, account: number, range: Numbers, page: Page) => JsonObject,
  ): Answer {
    const network = evmNetworkOf(networks, parts);
    const account = network.account(addressOf(parts));
    const query = new Query(call.query);
    const page = readPage(call, query, tokens, SIZES);
    const range = transactionsIn(network, account ?? -1, query, nowSec(call));
    const document = account === undefined ? { transactions: [] } : items(network, account, range, page);
    return { status: 200, document };
  }

  const path = '/v1/chains/{chainId}/addresses/{address}';
  const shared = { service: 'data', units: 20, method: 'GET' } as const;
  return [
    {
      ...shared,
      name: 'listNativeTransactions',
      path: `${path}/transactions:listNative`,
      answer: (call, parts) =>
        list(call, parts, (network, account, range, page) =>
          newestFirst(range, page, (number) => native(network, { account, number })),
        ),
    },
    {
      ...shared,
      name: 'listErc1155Transactions',
      path: `${path}/transactions:listErc1155`,
      answer: (call, parts) =>
        list(call, parts, (network, account, range, page) => {
          const places = { from: transfersIn(range.from), to: transfersIn(range.to) };
          return newestFirst(places, page, (i) => erc1155Item(network, account, i));
        }),
    },
  ];
}
