import { defineDataset } from '../dataset.ts';
import { decimal, flag, object, optional, text } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { currentValidators } from './current-validators.ts';

/**
 * Readings that a node reports only for validators of the primary network
 * (upstream-services.md#validators-and-peers).
 */
export const validatorUptime = defineDataset({
  name: 'validator_uptime',
  about: 'Uptime and connection of a validator as observed by one node, not by the whole network.',
  operations: ['platform.getCurrentValidators'],
  history: 'sample',
  source: currentValidators,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id', 'node_id'],
  items: (body) =>
    getList(body, 'validators', 'total').filter(
      (item) => getMember(item, 'uptime') !== undefined || getMember(item, 'connected') !== undefined,
    ),
  extra: false,
  item: object({
    nodeID: text(),
    uptime: optional(decimal('In percent, 0 to 100, since the node started to observe the validator.')),
    connected: optional(flag()),
  }),
  example: { nodeID: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD', uptime: '99.1234', connected: true },
});

export const { table: validatorUptimeTable } = validatorUptime;
