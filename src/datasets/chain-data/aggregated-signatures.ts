import { createHash } from 'node:crypto';
import { UsageError } from '../../lib/errors.ts';
import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, object, optional, text, uint } from '../fields.ts';
import { getEntries } from '../sources/answer.ts';
import { day } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/single-response.ts';

/** Parameters of a signature aggregation, as strings. */
type SignatureRequest = Readonly<Record<string, string>>;

const HEX = /^(?:0x)?(?:[0-9a-fA-F]{2})+$/;
const CB58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const WHOLE = /^\d{1,15}$/;
/** Default of the service for `quorumPercentage`. */
const QUORUM = 67;

const percentage = {
  rule: 'must be a whole number from 0 to 100',
  allows: (text: string) => WHOLE.test(text) && Number(text) <= 100,
  write: (text: string) => String(Number(text)),
};
const bytes = {
  rule: 'must be bytes in hexadecimal, with or without 0x',
  allows: (text: string) => HEX.test(text),
  write: (text: string) => `0x${text.replace(/^0x/, '').toLowerCase()}`,
};

/** Parameters of a message to be signed, with their validation and their canonical form. */
const parts: Readonly<Record<string, typeof bytes>> = {
  message: bytes,
  justification: bytes,
  signingSubnetId: {
    rule: 'must be a subnet id in hexadecimal or cb58',
    allows: (text) => HEX.test(text) || CB58.test(text),
    write: (text) => text,
  },
  quorumPercentage: percentage,
  quorumPercentageBuffer: percentage,
  pChainHeight: {
    rule: 'must be a height: 0 or more',
    allows: (text) => WHOLE.test(text),
    write: (text) => String(Number(text)),
  },
};

/**
 * Parses the KEY=VALUE pairs of a request: a transaction, or a message with its parameters. Equal requests
 * have the same canonical form.
 * @throws UsageError with all violated rules of the service
 */
function parseSignatureRequest(pairs: Readonly<Record<string, string>>): SignatureRequest {
  const { txHash, ...about } = pairs;
  const problems = txHash === undefined ? problemsOf(about) : problemsOfTransaction(txHash, about);
  if (problems.length > 0) throw new UsageError(problems);
  if (txHash !== undefined) return { txHash };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, { write }]) => {
      const text = about[name];
      return text === undefined ? [] : [[name, write(text)]];
    }),
  );
}

function problemsOfTransaction(txHash: string, others: SignatureRequest): string[] {
  const wrong = CB58.test(txHash) ? [] : ['txHash: must be the hash of a P- or X-chain transaction'];
  return [
    ...wrong,
    ...Object.keys(others).map((name) => `${name}: cannot be combined with txHash: remove one of them`),
  ];
}

function problemsOf(about: SignatureRequest): string[] {
  const problems = Object.entries(about).flatMap(([name, text]) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (!part)
      return [`${name}: is not supported: give txHash alone, or some of ${Object.keys(parts).join(', ')}`];
    return part.allows(text) ? [] : [`${name}: ${part.rule}`];
  });
  if (about.message === undefined && about.justification === undefined)
    problems.push('message: is required: give message, justification or txHash');
  const { quorumPercentage = QUORUM, quorumPercentageBuffer = 0 } = about;
  if (Number(quorumPercentage) + Number(quorumPercentageBuffer) > 100)
    problems.push('quorumPercentageBuffer: the sum with quorumPercentage must be at most 100');
  return problems;
}

/** Returns the request as the body of a call. */
function toRequestBody(request: SignatureRequest): Record<string, string | number> {
  const numbers = ['quorumPercentage', 'quorumPercentageBuffer', 'pChainHeight'];
  return Object.fromEntries(
    Object.keys(parts).flatMap((name) => {
      const text = request[name];
      return text === undefined ? [] : [[name, numbers.includes(name) ? Number(text) : text]];
    }),
  );
}

/**
 * Signatures of validators. They are requested only on demand, because every call makes validators sign a
 * message.
 */
const source: Source = {
  name: 'aggregated-signatures',
  upstream: 'chainData',
  every: day, // there are no targets, so that no poll is scheduled
  weight: 20,
  calls: 1,
  targets: () => [],
  demand: (pairs, { network }) => {
    const parameters = parseSignatureRequest(pairs);
    const digest = () =>
      createHash('sha256')
        .update(JSON.stringify(toRequestBody(parameters)))
        .digest('hex');
    return { network, request: parameters.txHash ?? digest(), ...parameters };
  },
  walk: (client, { network, txHash, ...about }) => {
    const path = `/v1/signatureAggregator/${network}/aggregateSignatures`;
    return walkSingleResponse(() =>
      txHash === undefined ? client.post(path, toRequestBody(about)) : client.get(`${path}/${txHash}`),
    );
  },
};

export const aggregatedSignatures = defineDataset({
  name: 'aggregated_signatures',
  about: 'Messages between chains that validators signed, with the parameters of the request.',
  operations: [
    'POST /v1/signatureAggregator/{network}/aggregateSignatures',
    'GET /v1/signatureAggregator/{network}/aggregateSignatures/{txHash}',
  ],
  history: 'log',
  source,
  request: ['network', 'request'],
  key: ['network', 'request'],
  items: (body, { network: _, request: __, ...parameters }) => [
    { ...Object.fromEntries(getEntries(body)), ...parameters },
  ],
  item: object({
    signedMessage: hex('In hexadecimal.'),
    txHash: optional(hex('The requested transaction.')),
    message: optional(hex('Message to sign, in hexadecimal.')),
    justification: optional(hex('Justification of the message, in hexadecimal.')),
    signingSubnetId: optional(text('Subnet whose validators signed; null: that of the source blockchain.')),
    quorumPercentage: optional(count('As requested; null: the default of the service, 67.')),
    quorumPercentageBuffer: optional(count('As requested; null: the default of the service, 0.')),
    pChainHeight: optional(uint('As requested; null or 0: the validators at the proposed height.')),
  }),
  example: {
    signedMessage: '00000000000539020000000000000000000000000000000000000000000000000000000000000000',
    message: '0x0000000000052b8dd7a62f9bd0f2ac1b7d2c0a5f4a7a7f0ce2b9',
    quorumPercentage: '67',
    quorumPercentageBuffer: '10',
  },
});

export const { table: aggregatedSignaturesTable } = aggregatedSignatures;
