import { ManualClock } from '../../sandbox/clock.ts';
import type { SandboxOptions } from '../../sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';

/** A parsed response. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are read freely
  readonly body: any;
  readonly headers: Headers;
}

/** The time of the tests' sandboxes: 2026-03-05 10:20 UTC. */
export const NOW = Date.UTC(2026, 2, 5, 10, 20);

/** A sandbox with a clock that is stopped until it is advanced. */
export async function stillSandbox(
  options: SandboxOptions = {},
): Promise<{ sandbox: Sandbox; clock: ManualClock }> {
  const clock = new ManualClock(NOW);
  const sandbox = await startSandbox({
    seed: 11,
    clock: clock.now,
    advance: clock.advance,
    incidents: false,
    ...options,
  });
  return { sandbox, clock };
}

async function reply(response: Response): Promise<Reply> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, text, body, headers: response.headers };
}

export async function get(sandbox: Sandbox, path: string): Promise<Reply> {
  return reply(await fetch(`${sandbox.url}${path}`, { redirect: 'manual' }));
}

export async function post(
  sandbox: Sandbox,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = { 'content-type': 'application/json' };
  return reply(
    await fetch(`${sandbox.url}${path}`, { method: 'POST', body: text, headers: { ...type, ...headers } }),
  );
}

/** Calls a JSON-RPC method of a node. */
export function rpc(sandbox: Sandbox, path: string, method: string, params?: unknown): Promise<Reply> {
  return post(sandbox, path, { jsonrpc: '2.0', id: 1, method, params });
}
