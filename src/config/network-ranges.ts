import { BlockList, isIP } from 'node:net';

/** Returns true for an IP address, or a range of addresses such as 10.0.0.0/24. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/**
 * Creates a function that tests whether an address is in one of the networks.
 * @param networks as accepted by {@link isNetwork}
 */
export function withinNetworks(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address ?? '');
    return address !== undefined && family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}
