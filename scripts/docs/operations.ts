import type { Recorded, Source } from '../../src/datasets/contract.ts';

/** The recorded services, by their key in `upstreams` of the configuration. */
const SERVICES: Readonly<Record<Source['upstream'], string>> = {
  chainData: 'the chain data service',
  metrics: 'the metrics service',
  nodes: 'each node',
};

/**
 * Titles of operations in the documentation of their service, by method and path, or by the prefix of the
 * JSON-RPC method. An operation without a title is shown by its name alone.
 */
const TITLES: Readonly<Record<string, string>> = {
  'POST /v1/signatureAggregator/{network}/aggregateSignatures': 'Aggregate signatures',
  'GET /v1/signatureAggregator/{network}/aggregateSignatures/{txHash}':
    'Get aggregated signatures by transaction',
  'GET /v1/networks/{network}/blockchains/{blockchainId}/transactions:listStaking':
    'List staking transactions',
  'GET /v1/chains/{chainId}/contracts/{address}/transactions:getDeployment': 'Get deployment transaction',
  'GET /v1/networks/{network}/subnets': 'List subnets',
  'GET /v1/networks/{network}/blockchains/{blockchainId}/balances': 'Get primary-network balances',
  'GET /v1/chains/{chainId}/addresses/{address}/transactions:listErc1155':
    'List ERC-1155 transfers of an address',
  'GET /v1/chains/{chainId}/addresses/{address}/transactions:listNative':
    'List native transactions of an address',
  'GET /v1/chains/{chainId}/addresses/{address}/balances:listErc1155': 'List ERC-1155 balances of an address',
  'GET /v1/networks/{network}/rewards:listPending': 'List pending rewards',
  'GET /v1/chains/{chainId}/contracts/{address}/deployments': 'List contracts deployed by an address',
  'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens': 'List tokens of an NFT contract',
  'GET /v1/chains/{chainId}/addresses/{address}/balances:getNative': 'Get native token balance',
  'GET /v1/chains/{chainId}/transactions/{txHash}': 'Get transaction',
  'GET /v1/networks/{network}/blockchains/{blockchainId}/nodes/{nodeId}/blocks':
    'List blocks proposed by a node',
  'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}': 'Get NFT token details',
  'GET /v2/chains/{chainId}/metrics/{metric}': 'Get a chain metric',
  'GET /v1/avg_tps/{chainId}': 'Average TPS (v1)',
  'avm.': 'X-chain API at `/ext/bc/X`',
  'platform.': 'P-chain API at `/ext/bc/P`',
  'info.': 'Info API at `/ext/info`',
  'health.': 'Health API at `/ext/health`',
  'GET /ext/health': 'Health API by GET',
};

/**
 * Renders the source of a dataset as Markdown: the service, then its operations by the titles that the
 * service uses.
 */
export function operationsText({ operations, source }: Pick<Recorded, 'operations' | 'source'>): string {
  const titles = [...new Set(operations.map(titleOf))];
  const texts = titles.map((title) => {
    const names = operations.filter((operation) => titleOf(operation) === title).map((name) => `\`${name}\``);
    return `${title === undefined ? '' : `${title}: `}${names.join(', ')}`;
  });
  return `${SERVICES[source.upstream]}, ${texts.join('; ')}`;
}

function titleOf(operation: string): string | undefined {
  const prefix = /^(?:[a-z]+\.|GET \/ext\/health(?=\/|$))/.exec(operation)?.[0];
  return TITLES[prefix ?? operation];
}
