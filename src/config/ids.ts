import { bech32 } from '@scure/base';
import { z } from 'zod';
import { decodeCb58 } from '../lib/cb58.ts';

const MISTYPED = 'is mistyped: the checksum does not match';

/** Returns a schema of texts with a checksum. The checksum is only verified if the format is valid. */
const checked = (form: RegExp, shape: string, fits: (text: string) => boolean) =>
  z.string().regex(form, { error: shape, abort: true }).refine(fits, MISTYPED);

/** Schema of a node id: 20 bytes with a checksum. */
export const nodeId = checked(
  /^NodeID-[1-9A-HJ-NP-Za-km-z]+$/,
  'must be a NodeID-…',
  (text) => decodeCb58(text.replace('NodeID-', ''))?.length === 20,
);

/** Schema of the id of an X-chain asset: 32 bytes with a checksum. */
export const assetId = checked(
  /^[1-9A-HJ-NP-Za-km-z]+$/,
  'must be an asset id',
  (text) => decodeCb58(text)?.length === 32,
);

/** Schema of a subnet id: 32 bytes with a checksum. */
export const subnetId = checked(
  /^[1-9A-HJ-NP-Za-km-z]+$/,
  'must be a subnet id',
  (text) => decodeCb58(text)?.length === 32,
);

/** Schema of an address of the primary network, with or without its chain: 20 bytes with a checksum. */
export const primaryAddress = checked(
  /^(?:[PXC]-)?[a-z]+1[a-z0-9]{38,}$/,
  'must be an address such as P-avax1…',
  (text) => {
    const words = bech32.decodeUnsafe(text.replace(/^[PXC]-/, ''))?.words;
    return words !== undefined && bech32.fromWordsUnsafe(words)?.length === 20;
  },
);

/** Schema of the id of an EVM chain: decimal digits, in quotes. */
export const evmChain = z
  .string({ error: 'must be a string: put chain ids in quotes' })
  .regex(/^[1-9]\d*$/, 'must be an EVM chain id in decimal digits, such as "43114"')
  .meta({ examples: ['43114'] });

/** Schema of the chain of a metric: an EVM chain, or all chains together. */
export const metricsChain = z
  .string({ error: 'must be a string: put chain ids in quotes' })
  .regex(
    /^(?:[1-9]\d*|total|mainnet|testnet)$/,
    'must be an EVM chain id in decimal digits, such as "43114", or total, mainnet or testnet',
  )
  .meta({ examples: ['43114', 'total'] });
