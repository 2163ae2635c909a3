import { UsageError } from '../lib/errors.ts';

/** A part of `up` that may run in a separate process. */
export type Role = 'scheduler' | 'worker' | 'server';
const ROLES: readonly Role[] = ['scheduler', 'worker', 'server'];

/**
 * Parses the roles in `--roles`. Default: all.
 * @throws UsageError if a role is unknown
 */
export function parseRoles(text: string | undefined): ReadonlySet<Role> {
  const names = text?.split(',').map((name) => name.trim()) ?? ROLES;
  const known = names.flatMap((name) => ROLES.filter((role) => role === name));
  if (known.length !== names.length)
    throw new UsageError([`--roles ${text}: must be a list of ${ROLES.join(', ')}`]);
  return new Set(known);
}
