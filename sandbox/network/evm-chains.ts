import { DAY } from './periods.ts';
import type { NetworkName } from './primary-chains.ts';

/** An EVM chain of the simulated networks. */
export interface EvmChain {
  readonly chainId: string;
  readonly number: number;
  readonly network: NetworkName;
  readonly name: string;
  /** Time of the first block of the chain, in Unix seconds. */
  readonly launchSec: number;
  /** Number of transactions of a usual hour at launch; 0 if nothing was ever indexed. */
  readonly perHour: number;
  readonly token: { readonly name: string; readonly symbol: string };
}

const AVAX = { name: 'Avalanche', symbol: 'AVAX' };

/** Returns the EVM chains. The last chain has no data, like some chains of the real service. */
export function evmChains(genesisSec: number): readonly EvmChain[] {
  const later = (days: number): number => genesisSec + days * DAY;
  return [
    {
      chainId: '43114',
      number: 0,
      network: 'sandbox',
      name: 'C-Chain',
      launchSec: genesisSec,
      perHour: 11_000,
      token: AVAX,
    },
    {
      chainId: '43113',
      number: 1,
      network: 'sandbox-2',
      name: 'C-Chain of sandbox-2',
      launchSec: genesisSec,
      perHour: 700,
      token: AVAX,
    },
    {
      chainId: '888001',
      number: 2,
      network: 'sandbox',
      name: 'Alpha',
      launchSec: later(61),
      perHour: 260,
      token: { name: 'Alpha', symbol: 'ALP' },
    },
    {
      chainId: '888002',
      number: 3,
      network: 'sandbox',
      name: 'Beta',
      launchSec: later(201),
      perHour: 0.7,
      token: { name: 'Beta', symbol: 'BET' },
    },
    {
      chainId: '888003',
      number: 4,
      network: 'sandbox',
      name: 'Silent',
      launchSec: later(300),
      perHour: 0,
      token: { name: 'Silent', symbol: 'SIL' },
    },
  ];
}
