import { count, flag, hex, list, moves, object, optional, text, uint } from '../fields.ts';
import { getEntries, getObject } from '../sources/answer.ts';
import { erc1155Transfer } from './erc1155-transfer.ts';
import { nativeTransaction } from './native-transaction.ts';
import { price } from './price.ts';
import { richAddress } from './rich-address.ts';
import { tokenMetadata } from './token-metadata.ts';

/** An ERC-721 transfer in a transaction. */
const erc721Transfer = object({
  logIndex: optional(count()),
  from: optional(richAddress),
  to: optional(richAddress),
  erc721Token: optional(
    object({
      address: optional(hex()),
      name: moves(optional(text())),
      symbol: moves(optional(text())),
      ercType: optional(text()),
      tokenId: optional(uint()),
      tokenUri: moves(optional(text())),
      ownerAddress: moves(optional(hex())),
      metadata: moves(optional(tokenMetadata)),
    }),
  ),
});

/** An ERC-20 transfer in a transaction. */
const erc20Transfer = object({
  logIndex: optional(count()),
  from: optional(richAddress),
  to: optional(richAddress),
  value: optional(uint()),
  erc20Token: optional(
    object({
      address: optional(hex()),
      name: moves(optional(text())),
      symbol: moves(optional(text())),
      decimals: moves(optional(count())),
      logoUri: moves(optional(text())),
      ercType: optional(text()),
      price: moves(optional(price)),
    }),
  ),
});

/** A call inside a transaction. */
const internalTransaction = object({
  from: optional(richAddress),
  to: optional(richAddress),
  internalTxType: optional(text()),
  value: optional(uint('In the smallest unit of the native token.')),
  isReverted: optional(flag()),
  gasUsed: optional(uint()),
  gasLimit: optional(uint()),
});

/**
 * A transaction of an EVM chain with its transfers and internal calls, in the form of
 * {@link transactionIn}.
 */
export const transactionDetail = object({
  ...nativeTransaction.shape,
  input: optional(hex()),
  baseFeePerGas: optional(uint('In the smallest unit of the native token.')),
  maxFeePerGas: optional(uint('In the smallest unit of the native token.')),
  maxPriorityFeePerGas: optional(uint('In the smallest unit of the native token.')),
  erc20Transfers: optional(list(erc20Transfer)),
  erc721Transfers: optional(list(erc721Transfer)),
  erc1155Transfers: optional(list(erc1155Transfer)),
  internalTransactions: optional(list(internalTransaction)),
  networkTokenDetails: optional(
    object({
      networkToken: moves(
        optional(
          object({
            name: optional(text()),
            symbol: optional(text()),
            decimals: optional(uint()),
            logoUri: optional(text()),
            description: optional(text()),
          }),
        ),
      ),
      currentPrice: moves(optional(price)),
      historicalPrice: optional(price),
    }),
  ),
  teleporterMessageInfo: optional(
    object({
      teleporterMessageId: optional(hex()),
      direction: optional(text()),
      sourceChainId: optional(text()),
      destinationChainId: optional(text()),
    }),
  ),
});

/**
 * Returns the transaction of a response: the members of `nativeTransaction`, merged with its sibling members.
 */
export function transactionIn(body: unknown): object {
  const native = getObject(body, 'nativeTransaction');
  const beside = getEntries(body).filter(([name]) => name !== 'nativeTransaction');
  return { ...Object.fromEntries(beside), ...native };
}

/** Example of a transaction in the form that {@link transactionIn} returns. */
export const exampleTransaction = {
  blockNumber: '71234567',
  blockTimestamp: 1763600000,
  blockHash: '0x0b3a4a1e0f0e6bb1c2b9dc0e8b9b4ad0c3b8ed2d7dbe5e4c7f1b8f1d2e3a4b5c',
  chainId: '43114',
  blockIndex: 3,
  txHash: '0x3e9303f81be00b4af28515dab7b914bf3dbff209ea10e7071fa24d4af0a112d4',
  txStatus: '1',
  txType: 2,
  gasLimit: '51373',
  gasUsed: '51373',
  gasPrice: '470000000000',
  nonce: '1',
  from: { address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' },
  to: { address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7' },
  method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb', methodName: 'transfer(address,uint256)' },
  value: '0',
  input: '0xa9059cbb',
  baseFeePerGas: '25000000000',
  maxFeePerGas: '75000000000',
  maxPriorityFeePerGas: '1000000000',
  erc20Transfers: [
    {
      from: { address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' },
      to: { address: '0x80252C2d06bbd85699c555fc3633D5B8eE67c9AD' },
      logIndex: 0,
      value: '10000000000000000000',
      erc20Token: {
        address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
        name: 'Wrapped AVAX',
        symbol: 'WAVAX',
        decimals: 18,
        logoUri: 'https://example.org/wavax.png',
        ercType: 'ERC-20',
        price: { currencyCode: 'usd', value: '42.42' },
      },
    },
  ],
  erc721Transfers: [],
  erc1155Transfers: [],
  internalTransactions: [
    {
      from: { address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' },
      to: { address: '0x80252C2d06bbd85699c555fc3633D5B8eE67c9AD' },
      internalTxType: 'UNKNOWN',
      value: '10000000000000000000',
      isReverted: true,
      gasUsed: '2300',
      gasLimit: '9000',
    },
  ],
  networkTokenDetails: {
    networkToken: {
      name: 'Avalanche',
      symbol: 'AVAX',
      decimals: 18,
      logoUri: 'https://example.org/avax.png',
      description: 'The token of the network.',
    },
    currentPrice: { currencyCode: 'usd', value: '42.42' },
    historicalPrice: { currencyCode: 'usd', value: '42.42' },
  },
  teleporterMessageInfo: {
    teleporterMessageId: '0x40c3f0b4d6b6b6e6e8a3b1a8a9d7b3c5f2e1d0c9b8a7968574635241302f1e0d',
    direction: 'SOURCE_TRANSACTION',
    sourceChainId: '43114',
    destinationChainId: '53935',
  },
};
