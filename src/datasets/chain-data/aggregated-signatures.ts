import { createHash } from 'node:crypto';
import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, object, optional, text, uint } from '../fields.ts';
import { getEntries } from '../sources/answer.ts';
import { day } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/one-answer.ts';
import { parseSignatureRequest, toRequestBody } from './signature-request.ts';

/**
 * Signatures of validators, only on demand, because every call makes validators sign.
 */
const source: Source = {
  name: 'aggregated-signatures',
  upstream: 'chainData',
  every: day, // there are no targets, so that it is never scheduled
  weight: 20,
  calls: 1,
  targets: () => [],
  demand: (pairs, { network }) => {
    const asked = parseSignatureRequest(pairs);
    const digest = () =>
      createHash('sha256')
        .update(JSON.stringify(toRequestBody(asked)))
        .digest('hex');
    return { network, request: asked.txHash ?? digest(), ...asked };
  },
  walk: (ask, { network, txHash, ...about }) => {
    const path = `/v1/signatureAggregator/${network}/aggregateSignatures`;
    return walkSingleResponse(() =>
      txHash === undefined ? ask.post(path, toRequestBody(about)) : ask.get(`${path}/${txHash}`),
    );
  },
};

export const aggregatedSignatures = defineDataset({
  name: 'aggregated_signatures',
  about: 'Messages between chains that validators signed, with what they were asked to sign.',
  operations: [
    'POST /v1/signatureAggregator/{network}/aggregateSignatures',
    'GET /v1/signatureAggregator/{network}/aggregateSignatures/{txHash}',
  ],
  history: 'log',
  source,
  request: ['network', 'request'],
  key: ['network', 'request'],
  items: (body, { network: _, request: __, ...asked }) => [
    { ...Object.fromEntries(getEntries(body)), ...asked },
  ],
  item: object({
    signedMessage: hex('In hexadecimal.'),
    txHash: optional(hex('The requested transaction.')),
    message: optional(hex('What was asked to be signed, in hexadecimal.')),
    justification: optional(hex('Why it should be signed, in hexadecimal.')),
    signingSubnetId: optional(text('Whose validators were asked; null: those of the source blockchain.')),
    quorumPercentage: optional(count('As asked; null: what the service takes, 67.')),
    quorumPercentageBuffer: optional(count('As asked; null: what the service takes, 0.')),
    pChainHeight: optional(uint('As asked; null or 0: the validators at the proposed height.')),
  }),
  example: {
    signedMessage: '00000000000539020000000000000000000000000000000000000000000000000000000000000000',
    message: '0x0000000000052b8dd7a62f9bd0f2ac1b7d2c0a5f4a7a7f0ce2b9',
    quorumPercentage: '67',
    quorumPercentageBuffer: '10',
  },
});

export const { table: aggregatedSignaturesTable } = aggregatedSignatures;
