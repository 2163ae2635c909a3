import type { JsonObject } from '../json.ts';
import { type Holding, total } from '../network/holdings.ts';
import type { PrimaryChain } from '../network/primary-chains.ts';
import { EMPTY_ID, PRIMARY_CHAINS, vmId } from '../network/primary-chains.ts';
import type { Subnet } from '../network/subnets.ts';
import { blockByHeight, blockById } from './blocks.ts';
import { blockchainId } from './info.ts';
import { type Methods, RpcFailure } from './json-rpc.ts';
import type { Params } from './params.ts';
import { isBootstrapped, type SimulatedNode, visibleMembers } from './simulated-node.ts';
import { validatorRecords } from './validator-records.ts';

/** Returns the subnet of a request. Default: the primary network. */
function subnetOf(node: SimulatedNode, params: Params, sec: number): Subnet {
  const id = params.id('subnetID');
  const subnet = node.network.subnets.find((one) => (id === '' ? one.number === 0 : one.subnetId === id));
  if (subnet === undefined || subnet.createdAt > sec)
    throw new RpcFailure(`couldn't get subnet "${id}": not found`);
  return subnet;
}

function amounts(holdings: readonly Holding[]): JsonObject {
  return Object.fromEntries(holdings.map(({ asset, amount }) => [asset.assetId, String(amount)]));
}

function balance(node: SimulatedNode, addresses: readonly string[], sec: number): JsonObject {
  const { accounts, holdings, ids } = node.network;
  const wrong = addresses.find((address) => !accounts.isAddress(address));
  if (wrong !== undefined) throw new RpcFailure(`couldn't parse address ${wrong}`);
  const owners = accounts.among(addresses);
  const unlocked = total(owners.flatMap((owner) => holdings.unlocked(owner, sec)));
  const locked = total(owners.flatMap((owner) => holdings.lockedStakeable(owner, sec)));
  const all = total([...unlocked, ...locked]);
  const sum = (some: readonly Holding[]): string => String(some.reduce((a, one) => a + one.amount, 0n));
  const references = all.flatMap((holding) =>
    Array.from({ length: holding.utxoCount }, (_, i) => ({
      txID: ids.primary.encode(6, (owners[0]?.number ?? 0) * 64 + i),
      outputIndex: i,
    })),
  );
  const maps = {
    balances: amounts(all),
    unlockeds: amounts(unlocked),
    lockedStakeables: amounts(locked),
    lockedNotStakeables: {},
  };
  return {
    balance: sum(all),
    unlocked: sum(unlocked),
    lockedStakeable: sum(locked),
    lockedNotStakeable: '0',
    ...(node.network.facts.has('balance-2021', sec, node.name) ? {} : maps),
    utxoIDs: references.length === 0 ? null : references,
  };
}

function blockchains(node: SimulatedNode, sec: number): JsonObject[] {
  const [, x, c] = PRIMARY_CHAINS[node.network.name];
  const own = [
    { id: x?.blockchainId ?? '', name: 'X-Chain', subnetID: EMPTY_ID, vmID: vmId('avm') },
    { id: c?.blockchainId ?? '', name: 'C-Chain', subnetID: EMPTY_ID, vmID: vmId('evm') },
  ];
  const others = node.network.subnets
    .filter((subnet) => subnet.createdAt <= sec)
    .flatMap((subnet) =>
      subnet.chains.map((chain) => ({
        id: chain.blockchainId,
        name: chain.name,
        subnetID: subnet.subnetId,
        vmID: chain.vmId,
      })),
    );
  return [...own, ...others];
}

/**
 * Returns the status of a blockchain. Chains of the primary network are `Validating` on a bootstrapped
 * validator, else `Syncing`. Chains of tracked subnets are `Syncing`, other known chains `Created`, and all
 * other chains `Unknown`.
 */
function status(node: SimulatedNode, id: string, sec: number): string {
  if (id === '') throw new RpcFailure("argument 'blockchainID' not given");
  const blockchain = blockchainId(node, id);
  const subnet = node.network.subnets.find((one) =>
    one.chains.some((chain) => chain.blockchainId === blockchain),
  );
  if (blockchain === undefined || (subnet?.createdAt ?? 0) > sec) return 'Unknown';
  if (subnet === undefined)
    return node.identity.seat < 0 || !isBootstrapped(node, sec) ? 'Syncing' : 'Validating';
  return subnet.number <= 2 ? 'Syncing' : 'Created';
}

/** Returns the methods of the P-chain API of a node. */
export function platformMethods(node: SimulatedNode, chain: PrimaryChain): Methods {
  const { network } = node;
  const blocks = network.blocks(chain);
  const encodings = ['hex', 'json'];
  return {
    'platform.getBalance': (params, sec) => balance(node, params.texts('addresses'), sec),
    'platform.getBlock': (params, sec) =>
      blockById(network, chain, params.id('blockID'), params.encoding(encodings), sec),
    'platform.getBlockByHeight': (params, sec) =>
      blockByHeight(network, chain, params.integer('height'), params.encoding(encodings), sec),
    'platform.getHeight': (_, sec) => ({ height: String(blocks.heightAt(sec)) }),
    'platform.getBlockchains': (_, sec) => ({ blockchains: blockchains(node, sec) }),
    'platform.getBlockchainStatus': (params, sec) => ({
      status: status(node, params.text('blockchainID'), sec),
    }),
    'platform.getCurrentSupply': (params, sec) => {
      if (subnetOf(node, params, sec).number > 0)
        throw new RpcFailure('fetching current supply failed: not found');
      const apart = node.network.facts.has('supply-apart', sec, node.name) ? 1n : 0n;
      return { supply: String(BigInt(blocks.supply(sec)) + apart), height: String(blocks.heightAt(sec)) };
    },
    'platform.getCurrentValidators': (params, sec) => ({
      validators: visibleMembers(
        node,
        validatorRecords(node, subnetOf(node, params, sec), params.nodeIds('nodeIDs'), sec),
        sec,
      ),
    }),
  };
}
