/** The networks that can be recorded, each with the id that its nodes report. `sandbox` is the simulated network. */
export const NETWORK_IDS = { mainnet: 1, fuji: 5, testnet: 5, sandbox: 1337 } as const;

export type NetworkName = keyof typeof NETWORK_IDS;

/** The names that the configuration accepts. */
export const NETWORK_NAMES = [
  'mainnet',
  'fuji',
  'testnet',
  'sandbox',
] as const satisfies readonly NetworkName[];

/** The name of a network by its id; the id itself if no name is known. */
export const networkName = (id: number): string =>
  NETWORK_NAMES.find((name) => NETWORK_IDS[name] === id) ?? `with the id ${id}`;
