import type { JsonObject } from '../json.ts';
import type { Asset } from '../network/assets.ts';
import type { Holding } from '../network/holdings.ts';

/** Returns an AssetAmount. */
export function assetAmount(asset: Asset, amount: bigint): JsonObject {
  const { assetId, name, symbol, denomination, type } = asset;
  return { assetId, name, symbol, denomination, type, amount: String(amount) };
}

/** Returns an item of a balance group. */
export function balanceAsset(holding: Holding): JsonObject {
  const { asset, amount, utxoCount, sharedWithChainId } = holding;
  return { ...assetAmount(asset, amount), utxoCount, sharedWithChainId };
}
