import type { JsonObject } from '../json.ts';
import { between } from '../random.ts';
import { CARDS, token } from './collections.ts';
import { cards } from './contracts.ts';
import type { EvmNetwork } from './evm-network.ts';
import { lowerBound } from './sequence.ts';

/**
 * Every third transaction of an account moves ERC-1155 tokens. Every fifth of these transactions has a second
 * log.
 */
const EVERY = 3;
const LOGS_OF_FIVE = 6;

/** Position of a transfer of ERC-1155 tokens among the transactions of its account. */
interface Place {
  readonly transaction: number;
  readonly move: number;
  readonly log: number;
}

function place(i: number): Place {
  const within = i % LOGS_OF_FIVE;
  const move = Math.floor(i / LOGS_OF_FIVE) * 5 + Math.min(within, 4);
  return { transaction: move * EVERY, move, log: within === 5 ? 1 : 0 };
}

/** Returns the number of transfers in the first transactions of an account. */
export function transfersIn(transactions: number): number {
  return lowerBound(transactions * 2, (i) => place(i).transaction < transactions);
}

/** Returns the indexes of a transaction's transfers. */
export function transfersOf(transaction: number): number[] {
  const before = transfersIn(transaction);
  return Array.from({ length: transfersIn(transaction + 1) - before }, (_, i) => before + i);
}

export function transactionOf(i: number): number {
  return place(i).transaction;
}

/**
 * Returns the number of tokens of an incoming transfer; the next outgoing transfer sends all of these tokens
 * except one.
 */
function incomingAmount(network: EvmNetwork, account: number, move: number): number {
  return 5 + between(network.seed, 0, 9, account, move, 8);
}

/**
 * Returns a transfer with from, to, logIndex, value and token. In a second log, the sender and the receiver
 * are the account.
 */
export function transfer(network: EvmNetwork, account: number, i: number): JsonObject {
  const { move, log, transaction } = place(i);
  const own = { address: network.address(account) };
  const other = { name: 'Somebody', address: network.counterparty(move) };
  const isIncoming = move % 2 === 0;
  const amount = isIncoming
    ? incomingAmount(network, account, move)
    : incomingAmount(network, account, move - 1) - 1;
  const id = (Math.floor(move / 2) + log) % CARDS;
  const sec = network.blockTime(network.block({ account, number: transaction }));
  const { ...erc1155Token } = token(network, cards(network), id, sec);
  return {
    from: log === 0 && isIncoming ? other : own,
    to: log === 0 && !isIncoming ? other : own,
    logIndex: 3 + log,
    value: String(log === 1 ? 1 : amount),
    erc1155Token,
  };
}

/**
 * Returns the balance of each token id after the first transactions of an account, which is the sum of the
 * transfers.
 */
export function cardBalances(network: EvmNetwork, account: number, transactions: number): number[] {
  const moves = Math.ceil(transactions / EVERY);
  const pairs = Math.floor(moves / 2);
  return Array.from({ length: CARDS }, (_, id) => {
    const kept = pairs > id ? Math.floor((pairs - id - 1) / CARDS) + 1 : 0;
    const open = moves % 2 === 1 && pairs % CARDS === id ? incomingAmount(network, account, moves - 1) : 0;
    return kept + open;
  });
}
