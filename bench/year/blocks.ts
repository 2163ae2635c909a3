import { Chance } from '../chance.ts';

const AVAX = 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z';
const FX = 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ';

/** A chain of blocks that grows; every node returns the same block. */
export class Blocks {
  readonly #chance: Chance;
  readonly #perDay: number;
  readonly #number: number;
  readonly #seconds: number[] = [];
  readonly #first: number;
  #now: number;

  /** @param number of the chain @param now seconds since 1970 */
  constructor(number: number, perDay: number, first: number, now: number) {
    this.#chance = new Chance(number);
    this.#number = number;
    this.#perDay = perDay;
    this.#first = first;
    this.#now = now;
    for (let n = 0; n < 200; n++) this.#seconds.push(now - 200 + n);
  }

  /** Lets the chain grow up to a time, in seconds since 1970. */
  advance(to: number): void {
    const count = this.#chance.times((this.#perDay * (to - this.#now)) / 86_400);
    for (let n = 1; n <= count; n++)
      this.#seconds.push(this.#now + Math.floor((n * (to - this.#now)) / (count + 1)));
    this.#now = to;
  }

  get height(): number {
    return this.#first + this.#seconds.length - 1;
  }

  /** `getBlockByHeight`: one block in three decides the previous one, and has no transaction. */
  answer(height: number): unknown {
    const chance = new Chance(this.#number * 1_000_000_007 + height);
    const id = (of: number) => new Chance(this.#number * 1_000_000_007 + of).id();
    return {
      block: {
        parentID: id(height - 1),
        height,
        time: this.#seconds[height - this.#first],
        ...(this.#number === 1 ? { merkleRoot: '11111111111111111111111111111111LpoYY' } : {}),
        txs: this.#number === 0 && chance.share() < 0.33 ? [] : [transaction(chance)],
        id: id(height),
      },
      encoding: 'json',
    };
  }
}

/** About 1.5 kB as JSON: two inputs, two outputs, two signatures. */
function transaction(chance: Chance): unknown {
  const amount = () => chance.between(1_000_000, 900_000_000_000);
  const output = () => ({
    assetID: AVAX,
    fxID: FX,
    output: { addresses: [chance.address()], amount: amount(), locktime: 0, threshold: 1 },
  });
  const input = () => ({
    txID: chance.id(),
    outputIndex: chance.between(0, 3),
    assetID: AVAX,
    fxID: FX,
    input: { amount: amount(), signatureIndices: [0] },
  });
  return {
    unsignedTx: {
      networkID: 1,
      blockchainID: '11111111111111111111111111111111LpoYY',
      outputs: [output(), output()],
      inputs: [input(), input()],
      memo: '0x',
    },
    credentials: [{ signatures: [chance.hex(65)] }, { signatures: [chance.hex(65)] }],
    id: chance.id(),
  };
}
