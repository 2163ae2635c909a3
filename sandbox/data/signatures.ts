import { createHash } from 'node:crypto';
import { type Answer, Refusal } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { type Operation, type PathParts, part } from '../http/operation.ts';
import { isId } from '../ids/base58.ts';
import { KIND } from '../ids/spaces.ts';
import { isObject, type JsonObject, readJson } from '../json.ts';
import type { DataService } from './data-service.ts';
import { networkOf } from './networks.ts';

const HEX = /^(0x)?([0-9a-fA-F]{2})+$/;

/** Returns the response for signed messages. As in the service, the status is 201 for GET, too. */
function signedAnswer(text: string): Answer {
  const parts = [0, 1, 2, 3, 4, 5].map((i) => createHash('sha256').update(`${i} ${text}`).digest('hex'));
  return { status: 201, document: { signedMessage: parts.join('') } };
}

function percent(body: JsonObject, name: string, standard: number, problems: string[]): number {
  const value = body[name] ?? standard;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100) return value;
  problems.push(`${name} must be an integer number from 0 to 100`);
  return standard;
}

function problemsOf(body: JsonObject): string[] {
  const problems: string[] = [];
  for (const name of ['message', 'justification'] as const) {
    const value = body[name];
    if (value !== undefined && !(typeof value === 'string' && HEX.test(value)))
      problems.push(`${name} must be a hexadecimal number`);
  }
  if (body.message === undefined && body.justification === undefined)
    problems.push('Either message or justification must be provided');
  const needed = percent(body, 'quorumPercentage', 67, problems);
  const buffer = percent(body, 'quorumPercentageBuffer', 0, problems);
  if (needed + buffer > 100)
    problems.push('quorumPercentage + quorumPercentageBuffer must not be greater than 100');
  const height = body.pChainHeight ?? 0;
  if (typeof height !== 'number' || !Number.isInteger(height) || height < 0)
    problems.push('pChainHeight must not be less than 0');
  const subnet = body.signingSubnetId ?? '';
  if (typeof subnet !== 'string' || !(subnet === '' || HEX.test(subnet) || isId(subnet)))
    problems.push('signingSubnetId must be hex or cb58');
  return problems;
}

/** Returns the two signature operations. */
export function signatures({ networks }: DataService): Operation[] {
  function aggregate(call: Call, parts: PathParts): Answer {
    networkOf(networks, parts);
    const body = readJson(call.body);
    if (!isObject(body)) throw new Refusal(400, 'the body must be a JSON object');
    const problems = problemsOf(body);
    if (problems.length > 0) throw new Refusal(400, problems);
    return signedAnswer(
      JSON.stringify([body.message, body.justification, body.signingSubnetId, body.pChainHeight]),
    );
  }

  function ofTransaction(_: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const hash = part(parts, 'txHash');
    if (!isId(hash)) throw new Refusal(400, ['txHash must be a valid transaction id']);
    const kind = network.ids.primary.decode(hash)?.kind ?? -1;
    const isTransaction =
      kind === KIND.subnetTransaction || kind === KIND.transaction || kind === KIND.transaction + 1;
    if (!isTransaction) throw new Refusal(404, `Transaction ${hash} not found`);
    return signedAnswer(hash);
  }

  const path = '/v1/signatureAggregator/{network}/aggregateSignatures';
  const shared = { service: 'data', units: 20 } as const;
  return [
    { ...shared, name: 'aggregateSignatures', method: 'POST', path, answer: aggregate },
    {
      ...shared,
      name: 'getAggregatedSignatures',
      method: 'GET',
      path: `${path}/{txHash}`,
      answer: ofTransaction,
    },
  ];
}
