import { cb58 } from '../ids/base58.ts';

/** The simulated networks: the main network and a second network. */
export type NetworkName = 'sandbox' | 'sandbox-2';

/** The aliases of the primary-network chains. */
type ChainAlias = 'p-chain' | 'x-chain' | 'c-chain';

/**
 * A primary-network chain. The number of the chain distinguishes its ids from the ids of the other two
 * chains.
 */
export interface PrimaryChain {
  readonly alias: ChainAlias;
  readonly number: 0 | 1 | 2;
  readonly blockchainId: string;
}

/** The id of the P-chain, of the primary network as a subnet, and the empty id. */
export const EMPTY_ID = '11111111111111111111111111111111LpoYY';

const P: PrimaryChain = { alias: 'p-chain', number: 0, blockchainId: EMPTY_ID };

/** Returns the id of a VM that is built into the node, which is the name of the VM padded with zero bytes. */
export function vmId(name: string): string {
  return cb58(Buffer.from(name.padEnd(32, '\0')));
}

/** The primary-network chains of each network. */
export const PRIMARY_CHAINS: Readonly<Record<NetworkName, readonly PrimaryChain[]>> = {
  sandbox: [
    P,
    { alias: 'x-chain', number: 1, blockchainId: '2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM' },
    { alias: 'c-chain', number: 2, blockchainId: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5' },
  ],
  'sandbox-2': [
    P,
    { alias: 'x-chain', number: 1, blockchainId: '2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm' },
    { alias: 'c-chain', number: 2, blockchainId: 'yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp' },
  ],
};

/** The human-readable prefix of a network's addresses. */
export const ADDRESS_PREFIX: Readonly<Record<NetworkName, string>> = {
  sandbox: 'avax',
  'sandbox-2': 'fuji',
};

/** The ids that the nodes of each network report. No public network has one of these ids. */
export const NETWORK_ID: Readonly<Record<NetworkName, number>> = { sandbox: 1337, 'sandbox-2': 1338 };

/** Returns the chain of an alias or a blockchain id. */
export function primaryChain(network: NetworkName, idOrAlias: string): PrimaryChain | undefined {
  return PRIMARY_CHAINS[network].find(
    (chain) => chain.alias === idOrAlias || chain.blockchainId === idOrAlias,
  );
}
