import { between, derive, mix } from '../random.ts';
import type { Account } from './accounts.ts';
import type { Asset } from './assets.ts';
import { DAY, holds } from './periods.ts';
import { type NetworkName, PRIMARY_CHAINS } from './primary-chains.ts';
import type { Utxos } from './utxos.ts';
import type { Stake, Validators } from './validators.ts';

/** An amount of an asset in a number of UTXOs. In atomic memory, the holding also has the sharing chain. */
export interface Holding {
  readonly asset: Asset;
  readonly amount: bigint;
  readonly utxoCount: number;
  readonly sharedWithChainId?: string;
}

/** Balances of accounts on the primary network, by the groups of the data service. */
export class Holdings {
  readonly #seed: number;
  readonly #name: NetworkName;
  readonly #assets: readonly [Asset, ...Asset[]];
  readonly #validators: Validators;
  readonly #utxos: Utxos;

  constructor(
    seed: number,
    name: NetworkName,
    assets: readonly [Asset, ...Asset[]],
    validators: Validators,
    utxos: Utxos,
  ) {
    this.#seed = derive(seed, 'holdings');
    this.#name = name;
    this.#assets = assets;
    this.#validators = validators;
    this.#utxos = utxos;
  }

  /** Returns the stakes and delegations of an account at a moment (Unix seconds). */
  stakes(account: Account, sec: number): Stake[] {
    const all = this.#validators
      .current(sec)
      .flatMap((stake): Stake[] => [stake, ...stake.delegations.filter((one) => holds(one, sec))]);
    return all.filter((stake) => stake.owner === account);
  }

  staked(account: Account, sec: number): Holding[] {
    const stakes = this.stakes(account, sec);
    return this.#native(
      stakes.reduce((sum, stake) => sum + stake.weight, 0n),
      stakes.length,
    );
  }

  /** Returns the free funds on the P-chain, which change every second day. */
  unlocked(account: Account, sec: number): Holding[] {
    const step = Math.floor(sec / (2 * DAY));
    const amount =
      BigInt(between(this.#seed, 1_000_000_000, 900_000_000_000, account.number, 1)) *
      (account.number === 1 ? 20_011n : 1n);
    return this.#native(
      amount + BigInt(mix(this.#seed, account.number, step, 2)),
      1 + (mix(this.#seed, account.number, step, 3) % 9),
    );
  }

  /**
   * Returns the funds that can be staked but not moved. Every third account has such funds, and a fifth is
   * freed every 90 days.
   */
  lockedStakeable(account: Account, sec: number): Holding[] {
    const fifths = 5 - Math.floor((sec % (450 * DAY)) / (90 * DAY));
    const amount = account.number % 3 === 0 ? BigInt(fifths) * 10_000_000_000_000n : 0n;
    return this.#native(amount, fifths);
  }

  /** Returns the funds in transit to a chain, which an account has on one day of five. */
  atomic(account: Account, chain: 0 | 1 | 2, sec: number): Holding[] {
    const day = Math.floor(sec / DAY);
    if (mix(this.#seed, account.number, day, chain + 4) % 5 !== 0) return [];
    const other = PRIMARY_CHAINS[this.#name][(chain + 1 + (day % 2)) % 3];
    const amount = BigInt(between(this.#seed, 1_000_000, 5_000_000_000, account.number, day, 7));
    return this.#native(amount, 1).map((holding) => ({
      ...holding,
      sharedWithChainId: other?.blockchainId ?? '',
    }));
  }

  /** Returns the funds on the X-chain, which are the sums of the account's UTXOs by asset. */
  onX(account: Account, sec: number): Holding[] {
    const utxos = this.#utxos.of(account, sec);
    return this.#assets.flatMap((asset): Holding[] => {
      const own = utxos.filter((utxo) => utxo.asset === asset);
      const amount = own.reduce((sum, utxo) => sum + utxo.amount, 0n);
      return own.length === 0 ? [] : [{ asset, amount, utxoCount: own.length }];
    });
  }

  #native(amount: bigint, utxoCount: number): Holding[] {
    return amount === 0n ? [] : [{ asset: this.#assets[0], amount, utxoCount }];
  }
}

/** Returns the holdings of several accounts together, by asset and sharing chain. */
export function total(holdings: readonly Holding[]): Holding[] {
  const sums = new Map<string, Holding>();
  for (const holding of holdings) {
    const key = `${holding.asset.assetId} ${holding.sharedWithChainId}`;
    const previous = sums.get(key);
    const amount = holding.amount + (previous?.amount ?? 0n);
    sums.set(key, { ...holding, amount, utxoCount: holding.utxoCount + (previous?.utxoCount ?? 0) });
  }
  return [...sums.values()];
}
