import { writeJson } from '../json.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { documentOf, withDocument } from './documents.ts';
import type { RpcKind } from './kinds.ts';

/** Returns an invalid JSON-RPC response or health report. Returns undefined for responses of another kind. */
export function spoilRpc(kind: RpcKind, context: FaultContext): FaultEffect | undefined {
  const document = context.answer.document;
  if (kind === 'health-lie') {
    if (document === undefined || typeof document.healthy !== 'boolean') return undefined;
    const body = Buffer.from(writeJson({ ...document, healthy: false }));
    return { delivery: { ...context.delivery, status: 200, body }, readable: 'none' };
  }
  const rpc = documentOf(context);
  if (rpc?.jsonrpc === undefined) return undefined;
  if (kind === 'rpc-empty')
    return { delivery: { ...context.delivery, body: Buffer.alloc(0) }, readable: 'none' };
  if (kind === 'rpc-wrong-id')
    return { delivery: withDocument(context, { ...rpc, id: 987_654_321 }), readable: 'none' };
  const error = { code: -32000, message: "couldn't get block: not found", data: null };
  return { delivery: withDocument(context, { jsonrpc: '2.0', error, id: rpc.id ?? null }), readable: 'none' };
}
