import { list, lockTime, object, optional, uint } from '../fields.ts';

/** A set of addresses of which `threshold` must sign (seed node-rpc section 2, OwnerSet). */
export const ownerSet = object({
  locktime: optional(lockTime()),
  threshold: optional(uint()),
  addresses: optional(list(undefined, 'Addresses of which the threshold must sign.')),
});
