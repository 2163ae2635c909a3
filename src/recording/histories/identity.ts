import { parseRfc3339Microseconds } from '../../lib/instant.ts';
import { isExactNumber, parseJson } from '../../upstreams/json.ts';

/**
 * Returns a canonical text of a value: PostgreSQL considers two values of a column equal exactly if their
 * texts are equal. Numbers compare by value, times by instant in microseconds, JSON without the order of
 * members, all others by their characters.
 */
export function canonicalText(value: string, type: string): string {
  if (type === 'numeric' || type === 'bigint') return PLAIN.test(value) ? value : canonicalNumber(value);
  if (type === 'timestamptz') return value.endsWith('.000Z') ? value : canonicalInstant(value);
  if (type === 'jsonb') return canonicalJson(parseJson(value));
  return value;
}

const PLAIN = /^(?:0|[1-9]\d*)$/;
const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

function canonicalNumber(text: string): string {
  const [, sign, whole = '', part = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined) return text;
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  const power = Number(exponent) - part.length + digits.length - short.length;
  const minus = sign === '-' ? '-' : '';
  return power >= 0 && power <= 1_000 ? `${minus}${short}${'0'.repeat(power)}` : `${minus}${short}e${power}`;
}

function canonicalInstant(text: string): string {
  const micros = parseRfc3339Microseconds(text);
  if (micros === null) return text;
  const all = BigInt(micros);
  return all % 1_000_000n === 0n ? new Date(Number(all / 1000n)).toISOString() : `${all}`;
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (isExactNumber(value)) return canonicalNumber(value.value);
  if (typeof value === 'number') return canonicalNumber(String(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`,
  );
  return `{${members.sort().join()}}`;
}
