import { count, object, optional, text, unixSeconds } from '../fields.ts';

/** Metadata of an NFT, of either standard. */
export const tokenMetadata = object({
  indexStatus: optional(text()),
  metadataLastUpdatedTimestamp: optional(unixSeconds()),
  name: optional(text()),
  symbol: optional(text()),
  imageUri: optional(text()),
  description: optional(text()),
  animationUri: optional(text()),
  externalUrl: optional(text()),
  background: optional(text()),
  attributes: optional(text('JSON in a string; ERC-721 only.')),
  decimals: optional(count('ERC-1155 only.')),
  properties: optional(text('JSON in a string; ERC-1155 only.')),
});
