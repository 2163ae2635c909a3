import { isExactNumber } from './json.ts';

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** Returns the same text for two texts of equal numbers. Returns any other text unchanged. */
export function canonicalNumber(text: string): string {
  const [, sign, whole = '', part = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined) return text;
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  const power = Number(exponent) - part.length + digits.length - short.length;
  const minus = sign === '-' ? '-' : '';
  return power >= 0 && power <= 1_000 ? `${minus}${short}${'0'.repeat(power)}` : `${minus}${short}e${power}`;
}

/**
 * Returns the same text for two JSON values that differ only in the order of members or in the form of
 * numbers.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (isExactNumber(value)) return canonicalNumber(value.value);
  if (typeof value === 'number') return canonicalNumber(String(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`,
  );
  return `{${members.sort().join()}}`;
}
