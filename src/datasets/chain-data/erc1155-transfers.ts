import { defineDataset } from '../dataset.ts';
import { hex, object, optional, uint, unixMilliseconds, unixSeconds } from '../fields.ts';
import { addressTransactions } from '../sources/address-transactions.ts';
import { getList } from '../sources/answer.ts';
import { erc1155Transfer } from './erc1155-transfer.ts';

export const erc1155Transfers = defineDataset({
  name: 'erc1155_transfers',
  about: 'Transfers of ERC-1155 tokens from and to watched EVM addresses.',
  operations: ['GET /v1/chains/{chainId}/addresses/{address}/transactions:listErc1155'],
  history: 'log',
  source: addressTransactions('erc1155-transfers', 'listErc1155'),
  request: ['chainId', 'address'],
  key: ['chain_id', 'address', 'tx_hash', 'log_index', 'token_id'],
  items: (body) => getList(body, 'transactions'),
  states: { address: ['from.address', 'to.address'] },
  rename: { 'erc1155Token.tokenId': 'token_id' },
  item: object({
    txHash: hex(),
    blockNumber: uint(),
    blockTimestamp: unixSeconds(),
    blockTimestampMilliseconds: optional(unixMilliseconds()),
    blockHash: optional(hex()),
    ...erc1155Transfer.shape,
  }),
  example: {
    blockNumber: '71234567',
    blockTimestamp: 1763600000,
    blockHash: '0x0b3a4a1e0f0e6bb1c2b9dc0e8b9b4ad0c3b8ed2d7dbe5e4c7f1b8f1d2e3a4b5c',
    txHash: '0x3e9303f81be00b4af28515dab7b914bf3dbff209ea10e7071fa24d4af0a112d4',
    from: { address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' },
    to: { name: 'Market', address: '0x80252C2d06bbd85699c555fc3633D5B8eE67c9AD' },
    logIndex: 36,
    value: '10',
    erc1155Token: {
      address: '0x3AA7b2d6C07A91F9A9aC2f9a4E2e2c2B8F0B1A3C',
      ercType: 'ERC-1155',
      tokenId: '1',
      tokenUri: 'ipfs://bafybeib5c75hcyxmlgnjdcdeoxtkpqswnfyz6ldxsg3jvhoygvgmujklbe/1.json',
      metadata: { indexStatus: 'INDEXED', name: 'Gold', decimals: 0, properties: '{"rarity":"common"}' },
    },
  },
});

export const { table: erc1155TransfersTable } = erc1155Transfers;
