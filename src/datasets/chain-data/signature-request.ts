import { UsageError } from '../../lib/errors.ts';

/** Parameters of a signature aggregation, as strings. */
export type SignatureRequest = Readonly<Record<string, string>>;

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
const hex = {
  rule: 'must be bytes in hexadecimal, with or without 0x',
  allows: (text: string) => HEX.test(text),
  write: (text: string) => `0x${text.replace(/^0x/, '').toLowerCase()}`,
};

/** Parameters of a message to be signed, with their validation and their canonical form. */
const parts: Readonly<Record<string, typeof hex>> = {
  message: hex,
  justification: hex,
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
export function parseSignatureRequest(pairs: Readonly<Record<string, string>>): SignatureRequest {
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
  return [...wrong, ...Object.keys(others).map((name) => `${name}: txHash stands alone`)];
}

function problemsOf(about: SignatureRequest): string[] {
  const problems = Object.entries(about).flatMap(([name, text]) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (!part) return [`${name}: a request has txHash, or ${Object.keys(parts).join(', ')}`];
    return part.allows(text) ? [] : [`${name}: ${part.rule}`];
  });
  if (about.message === undefined && about.justification === undefined)
    problems.push('message: a message or a justification is required, or else a txHash');
  const { quorumPercentage = QUORUM, quorumPercentageBuffer = 0 } = about;
  if (Number(quorumPercentage) + Number(quorumPercentageBuffer) > 100)
    problems.push('quorumPercentageBuffer: with quorumPercentage it must be at most 100');
  return problems;
}

/** Returns the request as the body of a call. */
export function toRequestBody(request: SignatureRequest): Record<string, string | number> {
  const numbers = ['quorumPercentage', 'quorumPercentageBuffer', 'pChainHeight'];
  return Object.fromEntries(
    Object.keys(parts).flatMap((name) => {
      const text = request[name];
      return text === undefined ? [] : [[name, numbers.includes(name) ? Number(text) : text]];
    }),
  );
}
