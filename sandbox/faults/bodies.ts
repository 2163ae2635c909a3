import { gzipSync } from 'node:zlib';
import type { FaultContext, FaultEffect } from './context.ts';
import type { Delivery } from './delivery.ts';
import type { BodyKind } from './kinds.ts';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const bombs = new Map<number, Buffer>();

/**
 * Returns a compressed JSON document with a string of this many spaces. The result is cached, because the
 * compression is slow.
 */
function bomb(bytes: number): Buffer {
  const packed =
    bombs.get(bytes) ??
    gzipSync(Buffer.concat([Buffer.from('{"results":"'), Buffer.alloc(bytes, ' '), Buffer.from('"}')]));
  bombs.set(bytes, packed);
  return packed;
}

function deliver(kind: BodyKind, context: FaultContext): Delivery {
  const { delivery, sizes } = context;
  const { body, headers } = delivery;
  switch (kind) {
    case 'garbage':
      return { ...delivery, body: Buffer.from('\u0001\u0002}{][ not json at all "') };
    case 'html':
      return {
        ...delivery,
        body: Buffer.from('<html><body>Just a moment...</body></html>'),
        headers: { ...headers, 'content-type': 'text/html' },
      };
    case 'wrong-content-type':
      return { ...delivery, headers: { ...headers, 'content-type': 'text/plain' } };
    case 'bom':
      return { ...delivery, body: Buffer.concat([BOM, body]) };
    case 'bad-utf8': {
      const at = Math.max(0, body.lastIndexOf('"'));
      return {
        ...delivery,
        body: Buffer.concat([body.subarray(0, at), Buffer.from([0xc3, 0x28, 0xff]), body.subarray(at)]),
      };
    }
    case 'deep-nesting':
      return { ...delivery, body: Buffer.from(`${'['.repeat(sizes.depth)}${']'.repeat(sizes.depth)}`) };
    case 'empty-body':
      return { ...delivery, body: Buffer.alloc(0) };
    case 'truncated-length':
      return { ...delivery, manner: { kind: 'cut', by: 'length' } };
    case 'truncated-chunked':
      return { ...delivery, manner: { kind: 'cut', by: 'chunked' } };
    case 'truncated-close':
      return { ...delivery, manner: { kind: 'cut', by: 'close' } };
    case 'gzip-bomb':
      return {
        ...delivery,
        body: bomb(sizes.bombBytes),
        headers: { ...headers, 'content-encoding': 'gzip' },
      };
    case 'huge-body':
      return { ...delivery, manner: { kind: 'endless', bytes: sizes.hugeBytes } };
  }
}

/** Returns the response with a body that is broken, truncated or far too large. */
export function spoilBody(kind: BodyKind, context: FaultContext): FaultEffect | undefined {
  if (context.delivery.body.length < 2) return undefined;
  // A client may accept these two kinds of bodies as valid.
  const readable = kind === 'wrong-content-type' || kind === 'bom' ? 'all' : 'none';
  return { delivery: deliver(kind, context), readable };
}
