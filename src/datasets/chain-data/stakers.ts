/**
 * The watched addresses that the P-chain's stakes are asked for, once each. The service takes addresses of the P- and
 * the X-chain, which are the same key with another letter before it (seed chain-data 4.3).
 */
export function stakers(addresses: readonly string[]): string[] {
  const asked = addresses.filter((address) => !address.startsWith('C-'));
  return [...new Set(asked.map((address) => `P-${address.replace(/^[PX]-/, '')}`))];
}
