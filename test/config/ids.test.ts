import { bech32 as reference } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cb58 as sandboxCb58 } from '../../sandbox/ids/base58.ts';
import { bech32 as sandboxBech32 } from '../../sandbox/ids/bech32.ts';
import { assetId, evmChain, metricsChain, nodeId, primaryAddress, subnetId } from '../../src/config/ids.ts';
import { decodeCb58, encodeCb58 } from '../../src/lib/cb58.ts';

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

/** Returns the text with another letter at a position. */
function misspell(text: string, place: number, letters: string): string {
  const at = place % text.length;
  const letter = letters.charAt((letters.indexOf(text.charAt(at)) + 1) % letters.length);
  return text.slice(0, at) + letter + text.slice(at + 1);
}

describe('an id in the configuration', () => {
  it('of a node or an asset is accepted as the network writes it, and refused with any letter mistyped', () => {
    fc.assert(
      fc.property(bytes(20), bytes(32), fc.nat(), (node, asset, place) => {
        for (const [schema, prefix, id] of [
          [nodeId, 'NodeID-', sandboxCb58(node)],
          [assetId, '', sandboxCb58(asset)],
          [subnetId, '', sandboxCb58(asset)],
        ] as const) {
          expect(schema.safeParse(prefix + id).success).toBe(true);
          const wrong = schema.safeParse(prefix + misspell(id, place, LETTERS));
          expect(wrong.error?.issues.map(({ message }) => message)).toEqual([
            expect.stringContaining('checksum'),
          ]);
        }
      }),
    );
  });

  it('of another length is refused, though its checksum matches', () => {
    expect(nodeId.safeParse(`NodeID-${encodeCb58(Buffer.alloc(32, 1))}`).success).toBe(false);
    expect(assetId.safeParse(encodeCb58(Buffer.alloc(20, 1))).success).toBe(false);
    const long = reference.encode('avax', reference.toWords(Buffer.alloc(32, 1)));
    expect(primaryAddress.safeParse(`P-${long}`).success).toBe(false);
  });

  it('with an invalid form gets an error about its form only', () => {
    for (const text of ['node', 'NodeID-', 'NodeID-0OIl'])
      expect(nodeId.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
        'must be a NodeID-…',
      ]);
    expect(nodeId.safeParse('NodeID-1').error?.issues).toHaveLength(1);
  });

  it('decodes to what was encoded, including leading zeros', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (raw) => {
        expect(encodeCb58(raw)).toBe(sandboxCb58(raw));
        expect(decodeCb58(encodeCb58(raw))).toEqual(Buffer.from(raw));
      }),
    );
  });

  it('of an address is accepted with and without its chain, and refused with any letter mistyped', () => {
    const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    fc.assert(
      fc.property(bytes(20), fc.constantFrom('avax', 'fuji', 'local'), fc.nat(), (raw, network, place) => {
        const address = sandboxBech32(network, raw);
        for (const chain of ['P-', 'X-', 'C-', ''])
          expect(primaryAddress.safeParse(chain + address).success).toBe(true);
        const data = address.slice(network.length + 1);
        const wrong = primaryAddress.safeParse(`P-${network}1${misspell(data, place, letters)}`);
        expect(wrong.error?.issues.map(({ message }) => message)).toEqual([
          expect.stringContaining('checksum'),
        ]);
      }),
    );
  });

  it.each(['43114', '1'])('of an EVM chain is decimal: %s', (text) => {
    expect([evmChain, metricsChain].map((schema) => schema.safeParse(text).success)).toEqual([true, true]);
  });
  it.each(['', '0', '0x1', 'C', '43114 ', '-1', 'mainet', 43114])('of an EVM chain is not %j', (text) => {
    expect([evmChain, metricsChain].map((schema) => schema.safeParse(text).success)).toEqual([false, false]);
  });
  it.each(['total', 'mainnet', 'testnet'])('may be %s if metrics are requested', (text) => {
    expect([evmChain, metricsChain].map((schema) => schema.safeParse(text).success)).toEqual([false, true]);
  });
});
