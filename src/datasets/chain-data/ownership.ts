import { list, lockTime, object, optional, uint } from '../fields.ts';

/** Who owns a subnet: addresses of which `threshold` must sign (seed chain-data 2.1, SubnetOwnershipInfo). */
export const ownership = object({
  locktime: optional(lockTime()),
  threshold: optional(uint()),
  addresses: optional(list(undefined, 'Addresses of which the threshold must sign.')),
});
