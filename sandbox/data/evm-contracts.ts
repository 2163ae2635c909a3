import { type Contract, contractAt, contractMadeBy, contractsOf } from '../evm/contracts.ts';
import type { EvmNetwork } from '../evm/evm-network.ts';
import { deployment, transaction } from '../evm/transactions.ts';
import { type Answer, Refusal } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import { type Operation, type PathParts, part } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import type { JsonObject } from '../json.ts';
import type { DataService } from './data-service.ts';
import { addressOf, currencyOf, evmNetworkOf } from './evm-request.ts';

/**
 * Returns a deployed contract, whose fields depend on `ercType`. Three of eight contracts have all optional
 * fields.
 */
function item(network: EvmNetwork, contract: Contract, sec: number): JsonObject {
  const { type, address, number } = contract;
  const name = network.facts.nameAt(contract.name, sec);
  const symbol = network.facts.nameAt(contract.symbol, sec);
  const deploymentDetails = {
    txHash: contract.deploymentHash,
    deployerAddress: network.address(contract.account),
  };
  const symbolField = type === 'UNKNOWN' ? {} : { symbol };
  const coin = type === 'ERC-20' ? { decimals: number % 8 === 0 ? 18 : 6 } : {};
  if (number % 8 >= 4) return { name, address, ercType: type, ...symbolField, ...coin, deploymentDetails };
  if (number % 8 === 3) return { address, ercType: type };
  return {
    name,
    description: 'Simulated by the sandbox',
    officialSite: 'https://example.org/',
    email: 'nobody@example.org',
    logoAsset: { assetId: `logo-${number}`, imageUri: 'https://example.org/logo.png' },
    bannerAsset: { assetId: `banner-${number}` },
    color: '#e84142',
    resourceLinks: [{ type: 'Website', url: 'https://example.org/' }],
    tags: ['sandbox', type.toLowerCase()],
    address,
    deploymentDetails: { ...deploymentDetails, deployerContractAddress: network.counterparty(number) },
    ercType: type,
    ...symbolField,
    ...coin,
    pricingProviders:
      type === 'ERC-20' || type === 'ERC-1155' ? { coingeckoCoinId: `sandbox-${number}` } : undefined,
  };
}

/** Returns the operations for single transactions and deployed contracts. */
export function evmContracts({ evm: networks, tokens }: DataService): Operation[] {
  function getTransaction(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const hash = part(parts, 'txHash').toLowerCase();
    if (!/^0x[0-9a-f]{64}$/.test(hash)) throw new Refusal(400, ['txHash must be a valid transaction hash']);
    const query = new Query(call.query);
    const sec = nowSec(call);
    const key = network.key(hash);
    if (key !== undefined && network.blockTime(network.block(key)) <= sec) {
      return { status: 200, document: transaction(network, key, currencyOf(query), sec) };
    }
    const contract = contractMadeBy(network, hash, sec);
    if (contract === undefined) throw new Refusal(404, `Transaction ${hash} not found`);
    return { status: 200, document: deployment(network, contract, currencyOf(query), sec) };
  }

  function getDeployment(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const address = addressOf(parts);
    const query = new Query(call.query);
    const currency = currencyOf(query);
    query.check();
    const contract = contractAt(network, address, nowSec(call));
    if (contract === undefined) throw new Refusal(404, `${address} is not a contract`);
    return { status: 200, document: deployment(network, contract, currency, nowSec(call)) };
  }

  function listDeployments(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const account = network.account(addressOf(parts));
    const page = readPage(call, new Query(call.query), tokens, { max: 100, standard: 10 });
    const contracts = account === undefined ? [] : contractsOf(network, account, nowSec(call));
    const { items, nextPageToken } = slice(contracts, page, 'desc', (contract) =>
      sortKey(contract.number, contract.address),
    );
    return {
      status: 200,
      document: { nextPageToken, contracts: items.map((contract) => item(network, contract, nowSec(call))) },
    };
  }

  const path = '/v1/chains/{chainId}';
  const shared = { service: 'data', units: 20, method: 'GET' } as const;
  return [
    { ...shared, name: 'getTransaction', path: `${path}/transactions/{txHash}`, answer: getTransaction },
    {
      ...shared,
      name: 'getDeploymentTransaction',
      path: `${path}/contracts/{address}/transactions:getDeployment`,
      answer: getDeployment,
    },
    {
      ...shared,
      name: 'listContractDeployments',
      path: `${path}/contracts/{address}/deployments`,
      answer: listDeployments,
    },
  ];
}
