import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { cb58 } from '../../sandbox/ids/base58.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, rpc } = withSandbox();

/** Decodes a hex encoding part by part. Throws on a wrong checksum. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(hex: string) {
    const whole = Buffer.from(hex.slice(2), 'hex');
    this.#bytes = whole.subarray(0, -4);
    const sum = createHash('sha256').update(this.#bytes).digest().subarray(-4);
    if (!sum.equals(whole.subarray(-4))) throw new Error('wrong checksum');
  }

  readBytes(size: number): Buffer {
    this.#at += size;
    if (this.#at > this.#bytes.length) throw new Error('too short');
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  short = (): number => this.readBytes(2).readUInt16BE();
  word = (): number => this.readBytes(4).readUInt32BE();
  long = (): string => String(this.readBytes(8).readBigUInt64BE());
  id = (): string => cb58(this.readBytes(32));
  list = <T>(read: () => T): T[] => Array.from({ length: this.word() }, read);

  output = () => {
    const assetID = this.id();
    expect(this.word()).toBe(7);
    const [amount, locktime, threshold] = [this.long(), this.long(), this.word()];
    return {
      assetID,
      amount,
      locktime,
      threshold,
      owners: this.list(() => this.readBytes(20).toString('hex')).length,
    };
  };

  input = () => {
    const [txID, outputIndex, assetID, type] = [this.id(), this.word(), this.id(), this.word()];
    expect(type).toBe(5);
    return { txID, outputIndex, assetID, amount: this.long(), signatureIndices: this.list(this.word) };
  };

  transaction = () => {
    const type = this.word();
    const head = { networkID: this.word(), blockchainID: this.id() };
    const [outputs, inputs] = [this.list(this.output), this.list(this.input)];
    const memo = `0x${this.readBytes(this.word()).toString('hex')}`;
    const imports = [17, 3].includes(type)
      ? { sourceChain: this.id(), importedInputs: this.list(this.input) }
      : {};
    const exports = [18, 4].includes(type)
      ? { destinationChain: this.id(), exportedOutputs: this.list(this.output) }
      : {};
    const signatures = this.list(() => {
      expect(this.word()).toBe(9);
      return this.list(() => `0x${this.readBytes(65).toString('hex')}`);
    });
    return { type, ...head, outputs, inputs, memo, ...imports, ...exports, signatures };
  };
}

const request = async (chain: string, method: string, params: object) =>
  (await rpc(`/ext/bc/${chain}`, method, params)).text;

/** The content of the json encoding, with integers as text, in the form of the parsed bytes. */
function normalize(tx: ReturnType<typeof JSON.parse>) {
  const output = (one: ReturnType<typeof JSON.parse>) => ({
    assetID: one.assetID,
    amount: String(one.output.amount),
    locktime: '0',
    threshold: 1,
    owners: 1,
  });
  const input = (one: ReturnType<typeof JSON.parse>) => ({
    txID: one.txID,
    outputIndex: one.outputIndex,
    assetID: one.assetID,
    amount: String(one.input.amount),
    signatureIndices: [0],
  });
  const { unsignedTx, credentials } = tx;
  const { sourceChain, importedInputs, destinationChain, exportedOutputs } = unsignedTx;
  return {
    networkID: unsignedTx.networkID,
    blockchainID: unsignedTx.blockchainID,
    outputs: unsignedTx.outputs.map(output),
    inputs: unsignedTx.inputs.map(input),
    memo: unsignedTx.memo,
    ...(sourceChain ? { sourceChain, importedInputs: importedInputs.map(input) } : {}),
    ...(destinationChain ? { destinationChain, exportedOutputs: exportedOutputs.map(output) } : {}),
    signatures: credentials.map(
      (one: ReturnType<typeof JSON.parse>) => one.signatures ?? one.credential.signatures,
    ),
  };
}

it.each([
  ['P', 'platform', 32],
  ['X', 'avm', 20],
] as const)('encodes blocks of the %s-chain the same in bytes and in JSON', async (name, service, type) => {
  const kinds = new Set<number>();
  for (let height = 100; height < 130; height += 1) {
    const params = { height: name === 'X' ? String(height) : height };
    const method = `${service}.getBlockByHeight`;
    const text = await request(name, method, { ...params, encoding: 'json' });
    // Amounts exceed 2^53: they are read as text.
    const json = JSON.parse(text.replace(/"amount":(\d+)/g, '"amount":"$1"')).result.block;
    const reader = new Reader(JSON.parse(await request(name, method, params)).result.block);
    expect([reader.short(), reader.word()]).toEqual([0, type]);
    const early = name === 'P' ? reader.long() : undefined;
    const [parentID, at] = [reader.id(), reader.long()];
    const time = early ?? reader.long();
    const root = name === 'X' ? reader.id() : undefined;
    expect([parentID, at, time, root]).toEqual([
      json.parentID,
      String(height),
      String(json.time),
      json.merkleRoot,
    ]);
    const transactions = reader.list(reader.transaction);
    expect(reader.done).toBe(true);
    for (const one of transactions) kinds.add(one.type);
    expect(transactions.map(({ type: _, ...rest }) => rest)).toEqual(json.txs.map(normalize));
  }
  expect(kinds).toEqual(new Set(name === 'P' ? [34, 17, 18] : [0, 3, 4]));
});

it('encodes a transaction of the X-chain the same in bytes and in JSON', async () => {
  const chain = sandbox().network.chain('x-chain');
  const txID =
    chain === undefined
      ? ''
      : sandbox()
          .network.blocks(chain)
          .transactionId(100 * 4);
  const text = await request('X', 'avm.getTx', { txID, encoding: 'json' });
  const reader = new Reader(JSON.parse(await request('X', 'avm.getTx', { txID })).result.tx);
  expect(reader.short()).toBe(0);
  const { type, ...rest } = reader.transaction();
  expect([[0, 3, 4].includes(type), reader.done]).toEqual([true, true]);
  expect(rest).toEqual(normalize(JSON.parse(text.replace(/"amount":(\d+)/g, '"amount":"$1"')).result.tx));
});
