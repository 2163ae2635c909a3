import { z } from 'zod';
import { type UpstreamServer, upstreamServer } from './upstream-server.ts';

const value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  boolValue: z.boolean().optional(),
});
const attributes = z.array(z.object({ key: z.string(), value }));
const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes,
  status: z.looseObject({ code: z.number().optional(), message: z.string().optional() }),
});
const record = z.looseObject({
  traceId: z.string().optional(),
  spanId: z.string().optional(),
  severityText: z.string(),
  body: value,
  attributes,
});
const resource = z.looseObject({ attributes });
const traces = z.object({
  resourceSpans: z.array(
    z.looseObject({ resource, scopeSpans: z.array(z.looseObject({ spans: z.array(span) })) }),
  ),
});
const logs = z.object({
  resourceLogs: z.array(
    z.looseObject({ resource, scopeLogs: z.array(z.looseObject({ logRecords: z.array(record) })) }),
  ),
});

/** A received span. */
export type ReceivedSpan = z.infer<typeof span>;
/** A received log record. */
export type ReceivedRecord = z.infer<typeof record>;

/** A receiver of OTLP over HTTP in JSON. */
export interface OtlpReceiver extends Pick<UpstreamServer, 'url' | 'received' | 'close'> {
  readonly spans: readonly ReceivedSpan[];
  readonly records: readonly ReceivedRecord[];
  /** The attributes of the sender's resource, by name. */
  readonly resources: readonly ReadonlyMap<string, unknown>[];
}

/** Starts a receiver; a request that is not OTLP is answered with 400 and dropped. */
export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const records: ReceivedRecord[] = [];
  const resources: ReadonlyMap<string, unknown>[] = [];
  const server = await upstreamServer(({ url, body }, response) => {
    const read = url.pathname === '/v1/traces' ? storeTraces : url.pathname === '/v1/logs' ? storeLogs : null;
    const isValid = read?.(JSON.parse(body)) ?? false;
    response.writeHead(isValid ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
  });
  const storeTraces = (body: unknown): boolean => {
    const parsed = traces.safeParse(body);
    for (const one of parsed.data?.resourceSpans ?? []) {
      resources.push(attributesOf(one.resource));
      spans.push(...one.scopeSpans.flatMap((scope) => scope.spans));
    }
    return parsed.success;
  };
  const storeLogs = (body: unknown): boolean => {
    const parsed = logs.safeParse(body);
    for (const one of parsed.data?.resourceLogs ?? []) {
      resources.push(attributesOf(one.resource));
      records.push(...one.scopeLogs.flatMap((scope) => scope.logRecords));
    }
    return parsed.success;
  };
  return { url: server.url, received: server.received, close: server.close, spans, records, resources };
}

/** The attributes of a span or record, by name. */
export function attributesOf(of: { attributes: z.infer<typeof attributes> }): ReadonlyMap<string, unknown> {
  return new Map(
    of.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]),
  );
}
