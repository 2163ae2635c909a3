/** The addresses of one chain of the primary network among those that are watched; one without a chain is on each. */
export function addressesOn(chain: 'P' | 'X' | 'C', addresses: readonly string[]): string[] {
  return addresses.flatMap((address) => {
    if (!address.includes('-')) return [`${chain}-${address}`];
    return address.startsWith(`${chain}-`) ? [address] : [];
  });
}
