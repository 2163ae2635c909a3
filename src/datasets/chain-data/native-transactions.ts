import { defineDataset } from '../dataset.ts';
import { addressTransactions } from '../sources/address-transactions.ts';
import { getList } from '../sources/answer.ts';
import { nativeTransaction } from './native-transaction.ts';

export const nativeTransactions = defineDataset({
  name: 'native_transactions',
  about: 'Transactions that watched EVM addresses sent or received.',
  operations: ['GET /v1/chains/{chainId}/addresses/{address}/transactions:listNative'],
  history: 'log',
  source: addressTransactions('native-transactions', 'listNative'),
  request: ['chainId', 'address'],
  key: ['chain_id', 'address', 'tx_hash'],
  items: (body) => getList(body, 'transactions'),
  states: { chainId: ['chainId'], address: ['from.address', 'to.address'] },
  ignore: ['chainId'],
  item: nativeTransaction,
  example: {
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
    to: {
      name: 'Wrapped AVAX',
      symbol: 'WAVAX',
      decimals: 18,
      logoUri: 'https://example.org/wavax.png',
      address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    },
    method: {
      callType: 'CONTRACT_CALL',
      methodHash: '0xa9059cbb',
      methodName: 'transfer(address,uint256)',
    },
    value: '10000000000000000000',
  },
});

export const { table: nativeTransactionsTable } = nativeTransactions;
