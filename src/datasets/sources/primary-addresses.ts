/**
 * Returns the watched addresses of one chain of the primary network. An address without a chain belongs to
 * each chain.
 */
export function addressesOn(chain: 'P' | 'X' | 'C', addresses: readonly string[]): string[] {
  return addresses.flatMap((address) => {
    if (!address.includes('-')) return [`${chain}-${address}`];
    return address.startsWith(`${chain}-`) ? [address] : [];
  });
}
