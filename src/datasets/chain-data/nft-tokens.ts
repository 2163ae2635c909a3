import { UsageError } from '../../lib/errors.ts';
import { canonicalHex } from '../canonical-hex.ts';
import type { Source, Target } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hex, object, optional, text, uint256 } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { day } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { tokenMetadata } from './token-metadata.ts';

/**
 * All tokens of a watched contract, and a single token on demand. A request for a single token retires no
 * other token. A collection may have a hundred pages, so that it is read only once a day.
 */
const source: Source = {
  name: 'nft-tokens',
  upstream: 'chainData',
  every: day,
  weight: 20,
  calls: 1,
  paged: true,
  targets: ({ watch }) =>
    watch.collections.map(({ chain: chainId, address: collection }) => ({ chainId, collection })),
  demand: singleToken,
  rowsOf: ({ tokenId: _, ...list }) => list,
  async *walk(client, { chainId, collection, tokenId }, window) {
    const path = `/v1/chains/${chainId}/nfts/collections/${collection}/tokens`;
    if (tokenId === undefined)
      yield* fetchPages(client, { path, query: { pageSize: client.pageSize(100) }, list: 'tokens' }, window);
    else
      yield {
        body: { tokens: [await client.get(`${path}/${tokenId}`)] },
        proven: null,
        last: true,
        whole: false,
      };
  },
};

const RULES: Readonly<Record<string, { readonly pattern: RegExp; readonly rule: string }>> = {
  chainId: { pattern: /^[A-Za-z0-9]+$/, rule: 'must be a chain id' },
  collection: { pattern: /^0x[0-9a-fA-F]{40}$/, rule: 'must be 0x and 40 hexadecimal digits' },
  tokenId: { pattern: /^\d+$/, rule: 'must be a token id in decimal digits' },
};

/**
 * Returns the target of a single token.
 * @throws UsageError with all missing, invalid or unknown pairs
 */
function singleToken(pairs: Readonly<Record<string, string>>): Target {
  const problems = Object.entries(RULES)
    .filter(([name, { pattern }]) => !pattern.test(pairs[name] ?? ''))
    .map(([name, { rule }]) => `${name}: ${rule}`);
  const unknown = Object.keys(pairs)
    .filter((name) => !Object.hasOwn(RULES, name))
    .map((name) => `${name}: a token is requested by ${Object.keys(RULES).join(', ')}`);
  if (problems.length + unknown.length > 0) throw new UsageError([...problems, ...unknown]);
  const { collection = '', tokenId = '' } = pairs;
  return { ...pairs, collection: canonicalHex(collection), tokenId: String(BigInt(tokenId)) };
}

/**
 * Tokens of both standards. An ERC-1155 token has no name, symbol and owner (upstream-services.md#values).
 */
export const nftTokens = defineDataset({
  name: 'nft_tokens',
  about: 'The tokens of watched NFT contracts, with every owner and every version of their metadata.',
  operations: [
    'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens',
    'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}',
  ],
  history: 'state',
  source,
  request: ['chainId', 'collection'],
  key: ['chain_id', 'collection', 'token_id'],
  items: (body) => getList(body, 'tokens'),
  states: { collection: ['address'], tokenId: ['tokenId'] },
  // The contract of the token, which is the requested contract.
  ignore: ['address'],
  item: object({
    tokenId: uint256(),
    ercType: optional(text('ERC-721 or ERC-1155.')),
    name: optional(text()),
    symbol: optional(text()),
    tokenUri: optional(text()),
    ownerAddress: optional(hex('ERC-721 only.')),
    metadata: optional(tokenMetadata),
  }),
  example: {
    address: '0x54C800d2331E10467143911aabCa092d68bF4166',
    name: 'Dokyo',
    symbol: 'DOKYO',
    ercType: 'ERC-721',
    tokenId: '1',
    tokenUri: 'ipfs://bafybeib5c75hcyxmlgnjdcdeoxtkpqswnfyz6ldxsg3jvhoygvgmujklbe/1.json',
    metadata: {
      indexStatus: 'INDEXED',
      metadataLastUpdatedTimestamp: 1763600000,
      name: 'Dokyo #1',
      symbol: 'DOKYO',
      imageUri: 'ipfs://bafybeib5c75hcyxmlgnjdcdeoxtkpqswnfyz6ldxsg3jvhoygvgmujklbe/1.png',
      description: 'The first one.',
      animationUri: '',
      externalUrl: 'https://example.org/',
      background: 'ffffff',
      attributes: '[{"trait_type":"Mood","value":"calm"}]',
    },
    ownerAddress: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
  },
});

export const { table: nftTokensTable } = nftTokens;
