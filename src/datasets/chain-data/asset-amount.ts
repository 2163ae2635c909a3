import { count, object, optional, text, uint } from '../fields.ts';

/** An amount of an asset of the primary network. */
export const assetAmount = object({
  assetId: optional(text()),
  name: optional(text()),
  symbol: optional(text()),
  denomination: optional(count('Decimals of the asset.')),
  type: optional(text()),
  amount: optional(uint("In the asset's smallest unit.")),
});
