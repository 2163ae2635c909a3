import { createHash } from 'node:crypto';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, get, rpc } = withSandbox();

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Returns the bytes before a valid checksum, decoded digit by digit; null if it is invalid. */
function cb58(text: string): Buffer | null {
  const bytes: number[] = [];
  for (const letter of text) {
    let carry = DIGITS.indexOf(letter);
    if (carry < 0) return null;
    for (let i = bytes.length - 1; i >= 0; i -= 1) {
      carry += (bytes[i] ?? 0) * 58;
      bytes[i] = carry & 255;
      carry >>>= 8;
    }
    for (; carry > 0; carry >>>= 8) bytes.unshift(carry & 255);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const whole = Buffer.from([...Array<number>(zeros).fill(0), ...bytes]);
  const body = whole.subarray(0, -4);
  const sum = createHash('sha256').update(body).digest().subarray(-4);
  return whole.length > 4 && whole.subarray(-4).equals(sum) ? body : null;
}

/** Returns every text within a value, with the names of the members that lead to it. */
function* texts(value: unknown, path = ''): Generator<[path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value)) for (const one of value) yield* texts(one, path);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) yield* texts(member, `${path}.${name}`);
}

/** Responses of all three services. */
async function answers(): Promise<unknown[]> {
  const { chain = '', address = '' } = sandbox().watch.evmAddresses[0] ?? {};
  const p = '/v1/networks/sandbox/blockchains';
  const owner = sandbox().watch.addresses[0];
  const paths = [
    `${p}/p-chain/nodes/${sandbox().watch.nodeIds[0]}/blocks?pageSize=50`,
    `${p}/x-chain/nodes/${sandbox().watch.nodeIds[1]}/blocks?pageSize=50`,
    `${p}/p-chain/transactions:listStaking?pageSize=100`,
    `${p}/x-chain/balances?addresses=${owner}`,
    '/v1/networks/sandbox/subnets',
    `/v1/networks/sandbox/rewards:listPending?nodeIds=${sandbox().watch.nodeIds.join(',')}`,
    `/v1/chains/${chain}/addresses/${address}/transactions:listNative?pageSize=50`,
    `/v1/chains/${chain}/addresses/${address}/transactions:listErc1155?pageSize=50`,
    `/v1/chains/${chain}/contracts/${address}/deployments`,
    '/ext/health',
  ];
  const calls: [string, string, unknown?][] = [
    ['/ext/bc/P', 'platform.getCurrentValidators'],
    ['/ext/bc/P', 'platform.getCurrentValidators', { subnetID: sandbox().network.subnets[2]?.subnetId }],
    ['/ext/bc/P', 'platform.getBlockByHeight', { height: 77, encoding: 'json' }],
    ['/ext/bc/X', 'avm.getBlockByHeight', { height: '77', encoding: 'json' }],
    ['/ext/bc/P', 'platform.getBlockchains'],
    ['/ext/bc/X', 'avm.getAllBalances', { address: owner?.replace('P-', 'X-') }],
    ['/ext/info', 'info.peers'],
    ['/ext/info', 'info.getNodeID'],
    ['/ext/info', 'info.getVMs'],
    ['/ext/info', 'info.upgrades'],
  ];
  const got = await Promise.all(paths.map((path) => get(path)));
  const nodeAnswers = await Promise.all(calls.map(([path, method, params]) => rpc(path, method, params)));
  return [...got, ...nodeAnswers].map(({ body }) => body);
}

const HASHES =
  /\.(blockHash|parentHash|proposerId|proposerParentId|txHash|txID|id|parentID|merkleRoot|\w*[iI][dD]|\w*ID)$/;

describe('ids', () => {
  it('in base 58 all end with a valid checksum', async () => {
    const wrong: string[] = [];
    let right = 0;
    for (const [path, text] of (await answers()).flatMap((body) => [...texts(body)])) {
      const id = text.startsWith('NodeID-') ? text.slice('NodeID-'.length) : text;
      const size = text.startsWith('NodeID-') ? 20 : 32;
      const isId =
        text.startsWith('NodeID-') || (/^[1-9A-HJ-NP-Za-km-z]{40,52}$/.test(text) && HASHES.test(path));
      if (!isId) continue;
      if (cb58(id)?.length === size) right += 1;
      else wrong.push(`${path} ${text}`);
    }
    expect(wrong).toEqual([]);
    expect(right).toBeGreaterThan(1_000);
  });

  it('of blocks, transactions and outputs are all distinct', () => {
    const blocks = sandbox().network.blocks({ alias: 'p-chain', number: 0, blockchainId: '' });
    const hashes = Array.from({ length: 3_000 }, (_, height) => blocks.hash(height));
    expect(new Set(hashes).size).toBe(3_000);
    expect(hashes.map((hash) => blocks.heightOf(hash))).toEqual(hashes.map((_, height) => height));
    const broken = hashes.map((hash) => `${hash.slice(0, -1)}${hash.endsWith('2') ? '3' : '2'}`);
    expect(broken.map((hash) => blocks.heightOf(hash))).toEqual(broken.map(() => undefined));
  });

  it('of validations are the same in hex', async () => {
    const path = '/v1/networks/sandbox/blockchains/p-chain/transactions:listStaking';
    const { body } = await get(`${path}?pageSize=100&txTypes=RegisterL1ValidatorTx`);
    const details: { validationId: string; validationIdHex: string }[] = body.transactions.flatMap(
      (item: { l1ValidatorDetails: object[] }) => item.l1ValidatorDetails,
    );
    expect(details.length).toBeGreaterThan(3);
    for (const { validationId, validationIdHex } of details)
      expect(validationIdHex).toBe(`0x${cb58(validationId)?.toString('hex')}`);
  });
});

it('of EVM addresses are spelt as in EIP-55', async () => {
  const found = new Set<string>();
  for (const [, text] of (await answers()).flatMap((body) => [...texts(body)]))
    if (/^0x[0-9a-fA-F]{40}$/.test(text)) found.add(text);
  for (const address of found) {
    const small = address.slice(2).toLowerCase();
    const sum = Buffer.from(keccak_256(Buffer.from(small))).toString('hex');
    const checksummed = [...small].map((one, i) =>
      Number.parseInt(sum.charAt(i), 16) > 7 ? one.toUpperCase() : one,
    );
    expect(address).toBe(`0x${checksummed.join('')}`);
  }
  expect(found.size).toBeGreaterThan(20);
});

describe('BLS keys', () => {
  it('are different for every validator, with valid proofs', async () => {
    const { nodes } = sandbox().network.validators;
    const members = sandbox().network.subnets.flatMap((subnet) => subnet.members);
    const l1 = members.filter((member) => member.l1).map(({ node }) => node);
    const all = new Map([...nodes, ...l1].map((node) => [node.nodeId, node]));
    expect(new Set([...all.values()].map(({ publicKey }) => publicKey)).size).toBe(all.size);
    const { longSignatures: bls, G1 } = bls12_381;
    for (const node of [...all.values()].filter((_, i) => i % 17 === 0)) {
      const key = G1.Point.fromHex(node.publicKey.slice(2));
      key.assertValidity();
      const message = bls.hash(key.toBytes(true), 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_');
      expect(bls.verify(bls.Signature.fromHex(node.proofOfPossession.slice(2)), message, key)).toBe(true);
    }
  });

  it('follow the rule of their generation', () => {
    const secret = createHash('sha256').update('sandbox key 2').digest('hex');
    const scalar = BigInt(`0x${secret}`) % bls12_381.fields.Fr.ORDER;
    expect(sandbox().network.validators.nodes[2]?.publicKey).toBe(
      `0x${bls12_381.G1.Point.BASE.multiply(scalar).toHex(true)}`,
    );
  });
});

describe('malformed ids', () => {
  const breakChecksum = (id: string): string => `${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`;

  it('are refused by the data service as a bad request', async () => {
    const [node = ''] = sandbox().watch.nodeIds;
    const [address = ''] = sandbox().watch.addresses;
    const hash = sandbox().network.subnets[2]?.members[0]?.id ?? '';
    const p = '/v1/networks/sandbox/blockchains/p-chain';
    for (const path of [
      `${p}/nodes/${breakChecksum(node)}/blocks`,
      `${p}/nodes/NodeID-nobody/blocks`,
      `${p}/transactions:listStaking?addresses=${breakChecksum(address)}`,
      `/v1/networks/sandbox/rewards:listPending?nodeIds=${breakChecksum(node)}`,
      '/v1/networks/sandbox/blockchains/q-chain/balances',
      '/v1/networks/othernet/subnets',
      `/v1/signatureAggregator/sandbox/aggregateSignatures/${breakChecksum(hash)}`,
      '/v1/chains/43114/transactions/0x12',
      '/v1/chains/43114/addresses/0x12/balances:getNative',
      '/v1/chains/four/addresses/0x12/balances:getNative',
    ]) {
      const { status, body } = await get(path);
      expect([path, status, body.statusCode, body.error]).toEqual([path, 400, 400, 'Bad Request']);
    }
    expect((await get(`/v1/chains/77/addresses/0x${'ab'.repeat(20)}/balances:getNative`)).status).toBe(404);
  });

  it('are refused by a node as bad parameters', async () => {
    const [node = ''] = sandbox().watch.nodeIds;
    const subnetID = sandbox().network.subnets[2]?.subnetId ?? '';
    for (const [path, method, params] of [
      ['/ext/bc/P', 'platform.getCurrentValidators', { subnetID: breakChecksum(subnetID) }],
      ['/ext/bc/P', 'platform.getCurrentValidators', { nodeIDs: [breakChecksum(node)] }],
      ['/ext/info', 'info.peers', { nodeIDs: [breakChecksum(node)] }],
      ['/ext/bc/P', 'platform.getBlock', { blockID: breakChecksum(subnetID) }],
      ['/ext/bc/X', 'avm.getTx', { txID: breakChecksum(subnetID) }],
    ] as const) {
      const { body } = await rpc(path, method, params);
      expect([method, body.error?.message]).toEqual([
        method,
        expect.stringContaining("couldn't unmarshal an argument"),
      ]);
    }
  });
});
