import { defineDataset } from '../dataset.ts';
import { count, object, optional, set, uint } from '../fields.ts';
import { getEntries, getObject } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/**
 * Support and objection of validators for proposals (info.acps: a map by proposal number).
 */
const source = nodeMethod({
  name: 'proposals',
  path: '/ext/info',
  method: 'info.acps',
  every: hour,
});

export const nodeProposals = defineDataset({
  name: 'proposals',
  about: "Proposals of community rules (ACPs) with the validators' preferences, as a node receives them.",
  operations: ['info.acps'],
  history: 'state',
  source,
  request: ['node'],
  key: ['node', 'proposal'],
  // A node counts only the preferences of validators that it is connected to.
  everyNode: {
    own: ['support_weight', 'supporters', 'object_weight', 'objectors', 'abstain_weight'],
  },
  items: (body) =>
    getEntries(getObject(body, 'acps')).map(([proposal, votes]) => ({
      ...Object.fromEntries(getEntries(votes)),
      proposal,
    })),
  item: object({
    proposal: count('Number of the proposal.'),
    supportWeight: optional(uint('Stake that supports the proposal, in nAVAX.')),
    supporters: optional(set(undefined, 'Validators that support the proposal.')),
    objectWeight: optional(uint('Stake that objects to the proposal, in nAVAX.')),
    objectors: optional(set(undefined, 'Validators that object to the proposal.')),
    abstainWeight: optional(uint('Stake that neither supports nor objects, in nAVAX.')),
  }),
  example: {
    proposal: '23',
    supportWeight: '2000000000000',
    supporters: ['NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD'],
    objectWeight: '0',
    objectors: [],
    abstainWeight: '161147778098286584',
  },
});

export const { table: nodeProposalsTable } = nodeProposals;
