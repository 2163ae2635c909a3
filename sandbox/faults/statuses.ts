import { type Answer, problem } from '../http/answer.ts';
import { writeJson } from '../json.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { type Delivery, WHOLE } from './delivery.ts';
import type { StatusKind } from './kinds.ts';

const HTML =
  '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>The upstream did not answer</h1></body></html>';

function page(status: number): Delivery {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(HTML),
    manner: WHOLE,
  };
}

function json(answer: Answer, headers: Readonly<Record<string, string>> = {}): Delivery {
  const body = Buffer.from(writeJson(answer.document ?? {}));
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status: answer.status, headers: { ...type, ...headers }, body, manner: WHOLE };
}

function retryAfter(kind: string, context: FaultContext): string | undefined {
  const date = (seconds: number): string => new Date(context.call.nowMs + seconds * 1000).toUTCString();
  switch (kind) {
    case '429-seconds':
      return String(1 + (context.draw % 5));
    case '429-date':
      return date(2 + (context.draw % 5));
    case '429-past':
      return date(-3600);
    case '429-huge':
      return '1000000000';
    case '429-garbage':
      return 'soon;q=0.5';
    default:
      return undefined;
  }
}

/**
 * Returns a response with another status. Each `429-…` has its kind of `Retry-After` header; `429` has no
 * such header.
 */
export function spoilStatus(kind: StatusKind, context: FaultContext): FaultEffect {
  const deliver = (): Delivery => {
    if (kind === '502-html' || kind === '504-html') return page(Number(kind.slice(0, 3)));
    if (kind === 'redirect') {
      return {
        status: 302,
        headers: { location: 'http://127.0.0.1:9/elsewhere' },
        body: Buffer.alloc(0),
        manner: WHOLE,
      };
    }
    const status = Number(kind.slice(0, 3));
    const after = retryAfter(kind, context);
    const message = status === 429 ? 'ThrottlerException: Too Many Requests' : 'something went wrong';
    return json(
      problem(status, context.draw % 2 === 0 ? message : [message]),
      after === undefined ? {} : { 'retry-after': after },
    );
  };
  return { delivery: deliver(), readable: 'none' };
}
