import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { get, post, rpc, stillSandbox } from './client.ts';

/**
 * Opens a sandbox with a stopped clock for a test file: one for all tests, or one for each. Returns functions for the
 * open sandbox, its clock and requests to it.
 */
export function withSandbox(options: Parameters<typeof stillSandbox>[0] = {}, scope: 'all' | 'each' = 'all') {
  let opened: Awaited<ReturnType<typeof stillSandbox>>;
  const [before, after] = scope === 'all' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(async () => {
    opened = await stillSandbox(options);
  });
  after(() => opened.sandbox.close());
  return {
    sandbox: () => opened.sandbox,
    clock: () => opened.clock,
    get: (...request: Rest<typeof get>) => get(opened.sandbox, ...request),
    post: (...request: Rest<typeof post>) => post(opened.sandbox, ...request),
    rpc: (...request: Rest<typeof rpc>) => rpc(opened.sandbox, ...request),
  };
}

/** The parameters of a function after its first one. */
type Rest<F> = F extends (first: Sandbox, ...rest: infer R) => unknown ? R : never;
