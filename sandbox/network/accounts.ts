import { namedBytes } from '../ids/base58.ts';
import { bech32, isBech32 } from '../ids/bech32.ts';
import { pick } from '../random.ts';

/** An owner of primary-network funds. */
export interface Account {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** The bech32 address without the prefix of a chain, as in the data service. */
  readonly address: string;
}

const COUNT = 24;

/** The owners of all funds on the primary network. */
export class Accounts {
  readonly #seed: number;
  readonly #prefix: string;
  readonly all: readonly Account[];

  constructor(seed: number, prefix: string) {
    this.#seed = seed;
    this.#prefix = prefix;
    this.all = Array.from({ length: COUNT }, (_, number) => {
      const bytes = namedBytes(seed, `account ${number}`, 20);
      return { number, bytes, address: bech32(prefix, bytes) };
    });
  }

  /** Returns an account selected by its purpose. */
  of(a: number, b = 0): Account {
    return pick(this.all, this.#seed, a, b);
  }

  /**
   * Returns whether a text can be an address of this network, with or without `P-`, `X-` or `C-` before it.
   */
  isAddress(text: string): boolean {
    return isBech32(this.#prefix, text.replace(/^[PXC]-/, ''));
  }

  /** Returns the accounts of addresses. Unknown addresses are ignored, because they own nothing. */
  among(addresses: readonly string[]): Account[] {
    const requested = new Set(addresses.map((address) => address.replace(/^[PXC]-/, '')));
    return this.all.filter((account) => requested.has(account.address));
  }
}
