/** Ids of the supported networks, as their nodes report them. `sandbox` is the simulated network. */
export const NETWORK_IDS = { mainnet: 1, fuji: 5, testnet: 5, sandbox: 1337 } as const;

export type NetworkName = keyof typeof NETWORK_IDS;

/** Names that the configuration accepts. */
export const NETWORK_NAMES = [
  'mainnet',
  'fuji',
  'testnet',
  'sandbox',
] as const satisfies readonly NetworkName[];

/** Returns the name of a network by its id. Returns a description of the id if the network has no name. */
export const networkName = (id: number): string =>
  NETWORK_NAMES.find((name) => NETWORK_IDS[name] === id) ?? `with the id ${id}`;
