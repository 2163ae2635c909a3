import { lockTime, object, optional, set, uint } from '../fields.ts';

/**
 * Owners of a subnet: addresses of which `threshold` must sign.
 */
export const ownership = object({
  locktime: optional(lockTime()),
  threshold: optional(uint()),
  addresses: optional(set(undefined, 'Addresses of which the threshold must sign.')),
});
