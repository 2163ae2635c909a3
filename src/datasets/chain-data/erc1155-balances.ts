import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hex, object, uint256 } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { erc1155Token } from './erc1155-token.ts';

/**
 * ERC-1155 tokens of an address. The native balance in the response belongs to `native_balances`.
 */
const source: Source = {
  name: 'erc1155-balances',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  paged: true,
  targets: ({ watch }) => watch.evmAddresses.map(({ chain: chainId, address }) => ({ chainId, address })),
  walk: (client, { chainId, address }, window) =>
    fetchPages(
      client,
      {
        path: `/v1/chains/${chainId}/addresses/${address}/balances:listErc1155`,
        query: { pageSize: client.pageSize(500) },
        list: 'erc1155TokenBalances',
      },
      window,
    ),
};

export const erc1155Balances = defineDataset({
  name: 'erc1155_balances',
  about: 'Balances of ERC-1155 tokens of watched EVM addresses.',
  operations: ['GET /v1/chains/{chainId}/addresses/{address}/balances:listErc1155'],
  history: 'state',
  source,
  request: ['chainId', 'address'],
  key: ['chain_id', 'address', 'contract', 'token_id'],
  items: (body) => getList(body, 'erc1155TokenBalances'),
  states: { chainId: ['chainId'] },
  rename: { address: 'contract' },
  ignore: ['chainId'],
  item: object({ ...erc1155Token.shape, address: hex('The contract of the token.'), balance: uint256() }),
  example: {
    address: '0x3AA7b2d6C07A91F9A9aC2f9a4E2e2c2B8F0B1A3C',
    ercType: 'ERC-1155',
    tokenId: '1',
    tokenUri: 'ipfs://bafybeib5c75hcyxmlgnjdcdeoxtkpqswnfyz6ldxsg3jvhoygvgmujklbe/1.json',
    metadata: { indexStatus: 'INDEXED', name: 'Gold', decimals: 0, properties: '{"rarity":"common"}' },
    chainId: '43114',
    balance: '2000',
  },
});

export const { table: erc1155BalancesTable } = erc1155Balances;
