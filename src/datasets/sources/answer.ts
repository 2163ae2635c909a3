import { UpstreamFailure } from '../../upstreams/failure.ts';

/**
 * The list named `name` in an answer. `null` is an empty list: some deployments send it.
 * @throws UpstreamFailure (malformed) otherwise
 */
export function listIn(body: unknown, name: string): readonly unknown[] {
  const value = memberOf(body, name);
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  throw new UpstreamFailure('malformed', `the answer has no list "${name}"`);
}

/**
 * The object named `name` in an answer.
 * @throws UpstreamFailure (malformed) where there is none
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
