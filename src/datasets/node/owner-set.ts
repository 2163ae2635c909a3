import { list, object, optional, uint, unixSeconds } from '../fields.ts';

/** A set of addresses of which `threshold` must sign (seed node-rpc section 2, OwnerSet). */
export const ownerSet = object({
  locktime: optional(unixSeconds()),
  threshold: optional(uint()),
  addresses: optional(list(undefined, 'Addresses of which the threshold must sign.')),
});
