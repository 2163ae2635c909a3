import { createHash } from 'node:crypto';
import { cb58, checkedHex, namedBytes } from '../ids/base58.ts';
import { between, derive, unit } from '../random.ts';
import type { Account, Accounts } from './accounts.ts';
import type { Asset } from './assets.ts';
import { DAY, holds, type Period } from './periods.ts';

/** An output on the X-chain, or in transit to the X-chain, that is unspent during its period. */
export interface Utxo extends Period {
  readonly txId: string;
  readonly outputIndex: number;
  readonly id: string;
  readonly idBytes: Buffer;
  readonly asset: Asset;
  readonly amount: bigint;
  readonly owners: readonly Account[];
  /** The node's `hex` encoding of the output. */
  readonly hex: string;
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** Returns the id of an output, which is the SHA-256 of its index (64 bits) and the id of its transaction. */
function outputId(txId: Uint8Array, outputIndex: number): Buffer {
  return createHash('sha256')
    .update(long(BigInt(outputIndex)))
    .update(txId)
    .digest();
}

/** Returns an output without its period: ids, contents, and the `hex` encoding. */
function output(
  txBytes: Uint8Array,
  outputIndex: number,
  asset: Asset,
  amount: bigint,
  owners: readonly Account[],
): Omit<Utxo, keyof Period> {
  const idBytes = outputId(txBytes, outputIndex);
  const head = [Buffer.alloc(2), txBytes, word(outputIndex), asset.bytes, word(7), long(amount), long(0n)];
  const tail = [word(1), word(owners.length), ...owners.map((owner) => owner.bytes)];
  const hex = checkedHex(Buffer.concat([...head, ...tail]));
  return { txId: cb58(txBytes), outputIndex, id: cb58(idBytes), idBytes, asset, amount, owners, hex };
}

/** The unspent outputs of every account on the X-chain. One output in fifty belongs to two accounts. */
export class Utxos {
  readonly #seed: number;
  readonly #genesisSec: number;
  readonly #accounts: Accounts;
  readonly #assets: readonly [Asset, ...Asset[]];
  readonly #large: number;
  #all: readonly Utxo[] | undefined;

  /** @param large number of outputs of the first account */
  constructor(
    seed: number,
    genesisSec: number,
    accounts: Accounts,
    assets: readonly [Asset, ...Asset[]],
    large: number,
  ) {
    this.#seed = derive(seed, 'utxos');
    this.#genesisSec = genesisSec;
    this.#accounts = accounts;
    this.#assets = assets;
    this.#large = large;
  }

  #make(account: Account, number: number): Utxo {
    const seed = this.#seed;
    const key = account.number * 1_000_000 + number;
    const txBytes = namedBytes(seed, `tx ${key}`, 32);
    const outputIndex = number % 3;
    const [native, plenty = native] = this.#assets;
    const asset = number % 8 === 5 ? plenty : native;
    // The amounts of the plentiful asset exceed a double.
    const amount =
      asset === native
        ? BigInt(between(seed, 1_000, 900_000_000_000, key, 1))
        : 9_007_199_254_740_993n + BigInt(key);
    const second = this.#accounts.all[account.number + 1];
    const owners = number % 50 === 1 && second !== undefined ? [account, second] : [account];
    const start = unit(seed, key, 2) < 0.7 ? 0 : this.#genesisSec + between(seed, 0, 900 * DAY, key, 3);
    const end =
      unit(seed, key, 4) < 0.8
        ? Number.POSITIVE_INFINITY
        : start + this.#genesisSec + between(seed, DAY, 900 * DAY, key, 5);
    return { start, end, ...output(txBytes, outputIndex, asset, amount, owners) };
  }

  /**
   * Returns the output with an account's funds in transit to the X-chain on a day (days since 1970). The
   * output is in atomic memory and not yet on the X-chain.
   * @param from number of the chain from which the output was exported
   */
  atomic(account: Account, from: number, day: number, amount: bigint): Utxo {
    const txBytes = namedBytes(this.#seed, `export ${account.number} ${from} ${day}`, 32);
    const [native] = this.#assets;
    return { start: day * DAY, end: (day + 1) * DAY, ...output(txBytes, 0, native, amount, [account]) };
  }

  /**
   * All outputs of all times, in the order of the bytes of their ids. The list is created at the first
   * request.
   */
  get all(): readonly Utxo[] {
    this.#all ??= this.#accounts.all
      .flatMap((account) => {
        const count = account.number === 0 ? this.#large : between(this.#seed, 2, 12, account.number, 6);
        return Array.from({ length: count }, (_, number) => this.#make(account, number));
      })
      .sort((a, b) => Buffer.compare(a.idBytes, b.idBytes));
    return this.#all;
  }

  /** Returns the outputs of an account at a moment (Unix seconds), in the order of the ids' bytes. */
  of(account: Account, sec: number): Utxo[] {
    return this.all.filter((utxo) => holds(utxo, sec) && utxo.owners.includes(account));
  }
}
