import type { PageTokens } from '../http/page-tokens.ts';
import type { EvmNetworks } from './evm-request.ts';
import type { Networks } from './networks.ts';

/** Parts of the network that the chain data service serves. */
export interface DataService {
  readonly networks: Networks;
  readonly evm: EvmNetworks;
  readonly tokens: PageTokens;
  /** Lag of the index of blocks, in simulated ms. */
  readonly lagMs: number;
}
