import type { Answer } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { isObject, type Json, type JsonObject, readJson } from '../json.ts';
import { BadParams, Params } from './params.ts';

/** Error that a method throws. Its message becomes the message of the error in the response. */
export class RpcFailure extends Error {}

/** A JSON-RPC method. `sec` is the simulated time, in Unix seconds. */
type Method = (params: Params, sec: number) => JsonObject;

/** The methods of one path, by their full names. */
export type Methods = Readonly<Record<string, Method>>;

/** A JSON-RPC response with the method of the request. */
export interface RpcAnswer {
  readonly method: string;
  readonly answer: Answer;
}

const BAD_PARAMS =
  "couldn't unmarshal an argument. Ensure arguments are valid and properly formatted. See documentation for example calls";

function failure(code: number, message: string, id: Json, data: Json = null): Answer {
  return { status: 200, document: { jsonrpc: '2.0', error: { code, message, data }, id } };
}

function plain(status: number, text: string): Answer {
  return { status, text, contentType: 'text/plain; charset=utf-8' };
}

function unknown(name: string, services: ReadonlySet<string>): string {
  const [service = '', method = '', ...rest] = name.split('.');
  if (service === '' || method === '' || rest.length > 0)
    return `rpc: service/method request ill-formed: "${name}"`;
  if (/^[A-Z]/.test(method)) return 'method must start with a non-uppercase letter';
  const capital = method.charAt(0).toUpperCase() + method.slice(1);
  if (!services.has(service)) return `rpc: can't find service "${service}.${capital}"`;
  return `rpc: can't find method "${service}.${capital}"`;
}

/** Responds to a JSON-RPC 2.0 request as nodes do. JSON-RPC errors also have the HTTP status 200. */
export function answerRpc(call: Call, methods: Methods): RpcAnswer {
  if (call.method !== 'POST') {
    return { method: 'unknown', answer: plain(405, `rpc: POST method required, received ${call.method}\n`) };
  }
  const type = String(call.headers['content-type'] ?? '');
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return { method: 'unknown', answer: plain(415, `rpc: unrecognized Content-Type: ${type}\n`) };
  }
  const request = readJson(call.body);
  if (!isObject(request)) {
    return {
      method: 'unknown',
      answer: failure(-32700, 'invalid request', null, { method: '', params: null, id: null }),
    };
  }
  const name = typeof request.method === 'string' ? request.method : '';
  const id = request.id ?? null;
  if (request.jsonrpc !== '2.0') return { method: name, answer: failure(-32600, 'jsonrpc must be 2.0', id) };
  const answer = run(call, methods, name, request, id);
  return { method: name, answer: id === null ? { status: 200, text: '' } : answer };
}

function run(call: Call, methods: Methods, name: string, request: JsonObject, id: Json): Answer {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method === undefined) {
    const services = new Set(Object.keys(methods).map((method) => method.split('.')[0] ?? ''));
    return failure(-32000, unknown(name, services), id);
  }
  try {
    const result = method(new Params(request.params), Math.floor(call.nowMs / 1000));
    return {
      status: 200,
      document: { jsonrpc: '2.0', result, id },
      headers: { 'x-content-type-options': 'nosniff' },
    };
  } catch (error) {
    if (error instanceof BadParams) return failure(-32000, BAD_PARAMS, id);
    if (error instanceof RpcFailure) return failure(-32000, error.message, id);
    throw error;
  }
}
