import { UpstreamFailure, wordsOf } from './failure.ts';

/** The request envelope of the node's APIs (seed node-rpc section 1). */
export function rpcBody(id: number, method: string, params?: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
}

/** Error messages by which a node says that it will never answer a method (reality.md 0 row 19, 4.1). */
const NOT_OFFERED =
  /can't find (method|service)|not available|is disabled|method not found|deprecated|not a validator/i;

/**
 * The `result` of a JSON-RPC answer. Errors come in a 200, so the envelope decides.
 * @throws UpstreamFailure when the answer is an error: `not-offered` if the node does not have the method, otherwise
 * `rpc`; `malformed` when the answer does not belong to this call
 */
export function readRpcAnswer(body: unknown, id: number, method: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UpstreamFailure('malformed', `the answer to ${method} is no JSON-RPC envelope`);
  if ('error' in body && body.error !== null && body.error !== undefined) {
    const { code, message } = errorIn(body.error);
    const words = wordsOf(message);
    if (NOT_OFFERED.test(message) || code === -32601)
      throw new UpstreamFailure('not-offered', `the node does not answer ${method}: ${words}`);
    throw new UpstreamFailure('rpc', `${method} failed: ${words} (${code})`);
  }
  if (!('id' in body) || body.id !== id)
    throw new UpstreamFailure('malformed', `the answer to ${method} carries another call's id`);
  if (!('result' in body)) throw new UpstreamFailure('malformed', `the answer to ${method} has no result`);
  return body.result;
}

function errorIn(error: unknown): { code: number; message: string } {
  if (typeof error !== 'object' || error === null) return { code: 0, message: String(error) };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  return { code, message: 'message' in error ? String(error.message) : 'no message' };
}
