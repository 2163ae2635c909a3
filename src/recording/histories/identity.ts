import { parseRfc3339Microseconds } from '../../lib/instant.ts';
import { canonicalJson, canonicalNumber } from '../../upstreams/canonical-json.ts';
import { parseJson } from '../../upstreams/json.ts';

/**
 * Returns a canonical text of a value. Two values of a column have the same text exactly if PostgreSQL
 * considers the values equal. Numbers compare by value, times by instant in microseconds, JSON without the
 * order of members, all others by their characters.
 */
export function canonicalText(value: string, type: string): string {
  if (type === 'numeric' || type === 'bigint') return PLAIN.test(value) ? value : canonicalNumber(value);
  if (type === 'timestamptz') return canonicalInstant(value);
  if (type === 'jsonb') return canonicalJson(parseJson(value));
  return value;
}

const PLAIN = /^(?:0|[1-9]\d*)$/;

function canonicalInstant(text: string): string {
  const micros = parseRfc3339Microseconds(text);
  return micros === null ? text : String(micros);
}
