/** Returns a number of units of `10^-places` as a decimal. */
export function scaled(value: bigint, places: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  return plain(`${sign}${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`);
}

/** nAVAX in AVAX. */
export const avax = (amount: bigint) => scaled(amount, 9);

/** Returns a decimal as a number of units of `10^-places`. */
export function units(value: string | number, places: number): bigint {
  const [, sign = '', whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === '' || part.length > places) throw new Error(`${value} has not ${places} places`);
  return BigInt(`${sign}${whole}${part.padEnd(places, '0')}`);
}

/** Returns a quotient, rounded half away from zero. */
export function quotient(a: bigint, b: bigint, places: number): string | null {
  if (b === 0n) return null;
  const [n, d] = [(a < 0n ? -a : a) * 10n ** BigInt(places) * 2n, b < 0n ? -b : b];
  const rounded = (n / d + 1n) / 2n;
  return scaled(a < 0n !== b < 0n ? -rounded : rounded, places);
}

/** Returns a decimal without trailing zeros. */
export function plain(decimal: string): string {
  const short = decimal.includes('.') ? decimal.replace(/\.?0*$/, '') : decimal;
  return short === '-0' || short === '' ? '0' : short;
}
