import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, object, optional, set, text } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';

/** Contracts that an address deployed. */
const source: Source = {
  name: 'deployed-contracts',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  paged: true,
  targets: ({ watch }) =>
    watch.evmAddresses.map(({ chain: chainId, address: deployer }) => ({ chainId, deployer })),
  walk: (client, { chainId, deployer }, window) =>
    fetchPages(
      client,
      {
        path: `/v1/chains/${chainId}/contracts/${deployer}/deployments`,
        query: { pageSize: client.pageSize(100) },
        list: 'contracts',
      },
      window,
    ),
};

const image = object({ assetId: optional(text()), imageUri: optional(text()) });

/** One schema for all kinds of contracts. Each kind omits some fields (upstream-services.md#values). */
export const deployedContracts = defineDataset({
  name: 'deployed_contracts',
  about: 'Contracts that watched EVM addresses deployed, with their metadata.',
  operations: ['GET /v1/chains/{chainId}/contracts/{address}/deployments'],
  history: 'state',
  source,
  request: ['chainId', 'deployer'],
  key: ['chain_id', 'deployer', 'address'],
  items: (body) => getList(body, 'contracts'),
  states: { deployer: ['deploymentDetails.deployerAddress', 'deploymentDetails.deployerContractAddress'] },
  item: object({
    address: hex(),
    ercType: optional(text('ERC-20, ERC-721, ERC-1155 or UNKNOWN.')),
    name: optional(text()),
    symbol: optional(text()),
    decimals: optional(count('ERC-20 only.')),
    description: optional(text()),
    officialSite: optional(text()),
    email: optional(text()),
    logoAsset: optional(image),
    bannerAsset: optional(image),
    color: optional(text()),
    resourceLinks: optional(set(object({ type: optional(text()), url: optional(text()) }))),
    tags: optional(set()),
    deploymentDetails: optional(
      object({
        txHash: optional(hex()),
        deployerAddress: optional(hex()),
        deployerContractAddress: optional(hex()),
      }),
    ),
    pricingProviders: optional(object({ coingeckoCoinId: optional(text()) })),
  }),
  example: {
    name: 'Wrapped AVAX',
    description: 'Wrapped AVAX is an ERC-20 token that represents AVAX.',
    officialSite: 'https://example.org/',
    email: 'contact@example.org',
    logoAsset: { assetId: 'logo-1', imageUri: 'https://example.org/logo.png' },
    bannerAsset: { assetId: 'banner-1', imageUri: 'https://example.org/banner.png' },
    color: '#e84142',
    resourceLinks: [{ type: 'Website', url: 'https://example.org/' }],
    tags: ['token'],
    address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    deploymentDetails: {
      txHash: '0x3e9303f81be00b4af28515dab7b914bf3dbff209ea10e7071fa24d4af0a112d4',
      deployerAddress: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
      deployerContractAddress: '0x80252C2d06bbd85699c555fc3633D5B8eE67c9AD',
    },
    ercType: 'ERC-20',
    symbol: 'WAVAX',
    decimals: 18,
  },
});

export const { table: deployedContractsTable } = deployedContracts;
