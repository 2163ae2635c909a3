import type { Query } from '../http/query.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';

const MAX_ADDRESSES = 64;

/** Returns the accounts of the `addresses` parameter. Returns undefined without this parameter. */
export function accountsOf(query: Query, network: Network): Account[] | undefined {
  const addresses = query.list('addresses');
  if (addresses.length === 0) return undefined;
  const wrong = addresses.filter((address) => !network.accounts.isAddress(address));
  if (wrong.length > 0) query.fault(`addresses must be valid ${network.name} addresses: ${wrong.join(', ')}`);
  if (addresses.length > MAX_ADDRESSES)
    query.fault(`addresses must contain no more than ${MAX_ADDRESSES} elements`);
  return network.accounts.among(addresses);
}
