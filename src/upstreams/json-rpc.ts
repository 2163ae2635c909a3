import { sanitizeMessage, UpstreamFailure } from './failure.ts';

/** Returns the JSON-RPC request body for the APIs of a node. */
export function rpcBody(id: number, method: string, params?: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
}

/** Error messages of methods that the node will never serve (upstream-services.md#transport). */
const UNSUPPORTED =
  /can't find (method|service)|not available|is disabled|method not found|deprecated|not a validator/i;

/**
 * Returns the `result` of a JSON-RPC response. Error responses have HTTP status 200, so that only the body
 * indicates an error.
 * @throws UpstreamFailure if the response is an error: `unsupported` if the node does not have the method,
 * else `rpc`; `malformed` if the response does not belong to this call
 */
export function readRpcResponse(body: unknown, id: number, method: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UpstreamFailure('malformed', `the response to ${method} is not a JSON-RPC response`);
  if ('error' in body && body.error !== null && body.error !== undefined) {
    const { code, message } = errorIn(body.error);
    const words = sanitizeMessage(message);
    if (UNSUPPORTED.test(message) || code === -32601)
      throw new UpstreamFailure('unsupported', `the node does not offer ${method}: ${words}`);
    throw new UpstreamFailure('rpc', `${method} failed: ${words} (${code})`);
  }
  if (!('id' in body) || body.id !== id)
    throw new UpstreamFailure('malformed', `the response to ${method} has the id of another call`);
  if (!('result' in body)) throw new UpstreamFailure('malformed', `the response to ${method} has no result`);
  return body.result;
}

function errorIn(error: unknown): { code: number; message: string } {
  if (typeof error !== 'object' || error === null) return { code: 0, message: String(error) };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  return { code, message: 'message' in error ? String(error.message) : 'no message' };
}
