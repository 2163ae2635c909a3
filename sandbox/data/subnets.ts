import type { Answer } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import { KIND } from '../ids/spaces.ts';
import type { JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import { DAY } from '../network/periods.ts';
import { EMPTY_ID, PRIMARY_CHAINS, vmId } from '../network/primary-chains.ts';
import { CONVERTED_AFTER, type Subnet } from '../network/subnets.ts';
import type { DataService } from './data-service.ts';
import { networkOf } from './networks.ts';

/** Time from the creation of a subnet to the change of its owner, in seconds. */
export const TRANSFERRED_AFTER = 120 * DAY;

function height(network: Network, sec: number): string {
  const chain = network.chain('p-chain');
  return String(chain === undefined ? 0 : Math.max(0, network.blocks(chain).heightAt(sec)));
}

/** Returns the hash of a later transaction of a subnet. `which` is the number of the transaction. */
export function subnetTransaction(network: Network, subnet: Subnet, which: number): string {
  return network.ids.primary.encode(KIND.subnetTransaction, 1_000_000 + subnet.number * 100 + which);
}

/** Height in responses for objects of the genesis, which are in no block. */
const BEFORE_ALL_BLOCKS = '-1';

/** Returns the chains of the primary network, which the genesis created. */
function primaryBlockchains(network: Network): JsonObject[] {
  const vms = ['platform', 'avm', 'evm'];
  return PRIMARY_CHAINS[network.name].map((chain) => ({
    createBlockTimestamp: network.genesisSec,
    createBlockNumber: BEFORE_ALL_BLOCKS,
    blockchainId: chain.blockchainId,
    vmId: vmId(vms[chain.number] ?? ''),
    subnetId: EMPTY_ID,
    blockchainName: `${chain.alias.charAt(0).toUpperCase()}-Chain`,
    evmChainId: chain.number < 2 ? undefined : network.name === 'sandbox' ? 43_114 : 43_113,
  }));
}

/**
 * Returns a subnet in the form of responses at a time (Unix seconds). `ownerAddresses` keeps its first value
 * when the owner changes.
 */
function item(network: Network, subnet: Subnet, sec: number): JsonObject {
  const first = network.accounts.of(subnet.number, 81);
  const age = sec - subnet.createdAt;
  const owner = age < TRANSFERRED_AFTER ? first : network.accounts.of(subnet.number, 82);
  const isL1 = (subnet.kind === 'l1' || subnet.kind === 'mixed') && age >= CONVERTED_AFTER;
  const manager = subnet.chains[0];
  const locktime = network.locktime(sec);
  const primary = subnet.kind === 'primary';
  const conversion = {
    l1ConversionTransactionHash: subnetTransaction(network, subnet, 1),
    l1ValidatorManagerDetails: {
      blockchainId: manager?.blockchainId ?? '',
      contractAddress: network.ids.address.encode(KIND.contract, subnet.number),
    },
  };
  return {
    createBlockTimestamp: subnet.createdAt,
    createBlockIndex: primary ? BEFORE_ALL_BLOCKS : height(network, subnet.createdAt),
    subnetId: subnet.subnetId,
    ownerAddresses: primary ? [''] : [first.address],
    threshold: primary ? 0 : 1,
    locktime,
    subnetOwnershipInfo: {
      locktime,
      threshold: primary ? 0 : 1,
      addresses: primary ? [] : [owner.address],
    },
    isL1,
    ...(isL1 ? conversion : {}),
    blockchains: primary
      ? primaryBlockchains(network)
      : subnet.chains.map((chain, i) => ({
          createBlockTimestamp: subnet.createdAt + 60 * i,
          createBlockNumber: height(network, subnet.createdAt + 60 * i),
          blockchainId: chain.blockchainId,
          vmId: chain.vmId,
          subnetId: subnet.subnetId,
          blockchainName: chain.name,
          evmChainId: chain.evmChainId,
          genesisData: network.genesisData(chain, subnet.createdAt, sec),
        })),
  };
}

/** Returns the operation that lists subnets, the latest first. */
export function subnets({ networks, tokens }: DataService): Operation[] {
  function answer(call: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const query = new Query(call.query);
    const order = query.choice('sortOrder', ['asc', 'desc'] as const) ?? 'desc';
    const page = readPage(call, query, tokens, { max: 10_000, standard: 100 });
    const sec = nowSec(call);
    const existing = network.subnets.filter((subnet) => subnet.createdAt <= sec);
    const { items, nextPageToken } = slice(existing, page, order, (subnet) =>
      sortKey(subnet.createdAt, subnet.subnetId),
    );
    return {
      status: 200,
      document: { nextPageToken, subnets: items.map((subnet) => item(network, subnet, sec)) },
    };
  }

  return [
    {
      name: 'listSubnets',
      service: 'data',
      units: 20,
      method: 'GET',
      path: '/v1/networks/{network}/subnets',
      answer,
    },
  ];
}
