import type { Subnet } from '../network/subnets.ts';
import { type Methods, RpcFailure } from './json-rpc.ts';
import type { Params } from './params.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { validatorRecords } from './validator-records.ts';

/** The subnet that a request names: the primary network when it names none. */
function subnetOf(node: SimulatedNode, params: Params, sec: number): Subnet {
  const id = params.text('subnetID');
  const subnet = node.network.subnets.find((one) => (id === '' ? one.number === 0 : one.subnetId === id));
  if (subnet === undefined || subnet.createdAt > sec)
    throw new RpcFailure(`couldn't get subnet "${id}": not found`);
  return subnet;
}

/** The P-chain API of a node (node seed 4.3). */
export function platformMethods(node: SimulatedNode): Methods {
  return {
    'platform.getCurrentValidators': (params, sec) => ({
      validators: validatorRecords(node, subnetOf(node, params, sec), params.texts('nodeIDs'), sec),
    }),
  };
}
