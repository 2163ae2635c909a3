import { UpstreamFailure } from '../../upstreams/failure.ts';

/**
 * The list named `name` in an answer. `null` is an empty list: some deployments send it.
 * @param counts members beside the list that say how long it is, where they are there
 * @throws UpstreamFailure (malformed) when there is no list, or a count contradicts it
 */
export function listIn(body: unknown, name: string, ...counts: readonly string[]): readonly unknown[] {
  const value = memberOf(body, name);
  const list: unknown = value === null ? [] : value;
  if (!Array.isArray(list)) throw new UpstreamFailure('malformed', `the answer has no list "${name}"`);
  for (const count of counts) {
    const stated = memberOf(body, count);
    if (stated !== undefined && stated !== null && Number(stated) !== list.length)
      throw new UpstreamFailure(
        'malformed',
        `the answer contradicts itself: ${count} is ${String(stated)}, and "${name}" has ${list.length}`,
      );
  }
  return list;
}

/**
 * The object named `name` in an answer.
 * @throws UpstreamFailure (malformed) when there is none
 */
export function objectIn(body: unknown, name: string): object {
  const value = memberOf(body, name);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UpstreamFailure('malformed', `the answer has no object "${name}"`);
}

/** A member of a JSON object; undefined where there is none or the value is no object. */
export function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? Reflect.get(body, name)
    : undefined;
}

/** A JSON object's members; an empty list for anything else. */
export function entriesOf(body: unknown): [string, unknown][] {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.entries(body) : [];
}
