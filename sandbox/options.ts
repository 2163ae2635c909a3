import { type Clock, realClock } from './clock.ts';
import type { Fact } from './facts.ts';
import type { CallRecord } from './ledger/ledger.ts';

/** Options of a sandbox; all are optional. */
export interface SandboxOptions {
  /** Seed of the network. The same seed results in the same network. */
  readonly seed?: number;
  /** Port of the server; 0 for any free port. */
  readonly port?: number;
  /** The address to listen on. Default: the loopback. */
  readonly host?: string;
  /** Clock of the simulated time, in Unix milliseconds. */
  readonly clock?: Clock;
  /** Moves the clock by milliseconds, for `POST /_sandbox/clock`. Absent if the clock cannot be moved. */
  readonly advance?: (ms: number) => void;
  /** Start of the networks in Unix milliseconds. Default: 2025-01-01. */
  readonly genesisMs?: number;
  /** Lifetime of a page token, in simulated ms. */
  readonly tokenLifeMs?: number;
  /** Maximum number of validators of each network. */
  readonly validators?: number;
  /** Number of blocks that each validator proposes per hour on each primary-network chain. */
  readonly blocksPerHour?: number;
  /** Lag of the data service's index of blocks behind the clock, in simulated ms. */
  readonly indexerLagMs?: number;
  /** Number of UTXOs of the first account on the X-chain. */
  readonly utxos?: number;
  /** True if nodes restart and fail without a script. */
  readonly incidents?: boolean;
  /** Undocumented behaviour that is enabled from the start. */
  readonly facts?: readonly Fact[];
  /** Number of calls that the ledger keeps completely. */
  readonly ledgerCalls?: number;
  /** True if the ledger also keeps the bodies of the responses to these calls. */
  readonly ledgerBodies?: boolean;
  /** Called for every call. */
  readonly requestLog?: (call: CallRecord) => void;
}

/** The options with all defaults. */
export type Settings = Required<Omit<SandboxOptions, 'advance'>> & Pick<SandboxOptions, 'advance'>;

export function settings(options: SandboxOptions): Settings {
  return {
    seed: 1,
    port: 0,
    host: '127.0.0.1',
    clock: realClock(),
    genesisMs: Date.UTC(2025, 0, 1),
    tokenLifeMs: 86_400_000,
    validators: 40,
    blocksPerHour: 4,
    indexerLagMs: 0,
    utxos: 2_500,
    incidents: true,
    facts: [],
    ledgerCalls: 20_000,
    ledgerBodies: false,
    requestLog: () => {},
    ...options,
  };
}
