import { UpstreamFailure } from '../../upstreams/failure.ts';

/**
 * Returns the list `name` in a response. `null` counts as an empty list, because some deployments send
 * `null`.
 * @param counts optional members beside the list that state its length
 * @throws UpstreamFailure (malformed) if there is no list, or if a count contradicts the list
 */
export function getList(body: unknown, name: string, ...counts: readonly string[]): readonly unknown[] {
  const value = getMember(body, name);
  const list: unknown = value === null ? [] : value;
  if (!Array.isArray(list)) throw new UpstreamFailure('malformed', `the response has no list "${name}"`);
  for (const count of counts) {
    const stated = getMember(body, count);
    if (stated !== undefined && stated !== null && Number(stated) !== list.length)
      throw new UpstreamFailure(
        'malformed',
        `the response contradicts itself: ${count} is ${String(stated)}, and "${name}" has ${list.length}`,
      );
  }
  return list;
}

/**
 * Returns the object `name` in a response.
 * @throws UpstreamFailure (malformed) if there is no such object
 */
export function getObject(body: unknown, name: string): object {
  const value = getMember(body, name);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UpstreamFailure('malformed', `the response has no object "${name}"`);
}

/**
 * Returns a member of a JSON object. Returns undefined if there is no such member, or if the value is no
 * object.
 */
export function getMember(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? Reflect.get(body, name)
    : undefined;
}

/** Returns the members of a JSON object. Returns an empty list for any other value. */
export function getEntries(body: unknown): [string, unknown][] {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.entries(body) : [];
}
