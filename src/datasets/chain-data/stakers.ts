/**
 * Returns the watched addresses for queries of stakes on the P-chain, without duplicates. The service accepts
 * addresses of the P- and the X-chain, which are the same key with different prefixes.
 */
export function stakers(addresses: readonly string[]): string[] {
  const stakingAddresses = addresses.filter((address) => !address.startsWith('C-'));
  return [...new Set(stakingAddresses.map((address) => `P-${address.replace(/^[PX]-/, '')}`))];
}
