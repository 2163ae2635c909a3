import { lockTime, object, optional, set, uint } from '../fields.ts';

/** A set of addresses of which `threshold` must sign. */
export const ownerSet = object({
  locktime: optional(lockTime()),
  threshold: optional(uint()),
  addresses: optional(set(undefined, 'Addresses of which the threshold must sign.')),
});
