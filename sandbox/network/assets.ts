import { cb58, namedBytes } from '../ids/base58.ts';

/** An asset of the X-chain. Amounts are whole numbers of the smallest unit of the asset. */
export interface Asset {
  readonly bytes: Uint8Array;
  readonly assetId: string;
  readonly name: string;
  readonly symbol: string;
  readonly denomination: number;
  readonly type: 'secp256k1' | 'nft';
}

function asset(seed: number, name: string, symbol: string, denomination: number, type: Asset['type']): Asset {
  const bytes = namedBytes(seed, `asset ${symbol}`, 32);
  return { bytes, assetId: cb58(bytes), name, symbol, denomination, type };
}

/** Returns the assets of a network, the native asset first. */
export function assets(seed: number): readonly [Asset, ...Asset[]] {
  return [
    asset(seed, 'Avalanche', 'AVAX', 9, 'secp256k1'),
    asset(seed, 'Plentiful', 'PLTY', 0, 'secp256k1'),
    asset(seed, 'Picture Club', 'PICS', 0, 'nft'),
  ];
}
