import type { JsonObject } from '../json.ts';

/** A point of a metric in a response: [Unix seconds, value]. */
export type Point = readonly [timestamp: number, value: number];

/** The points of one metric response, for the ledger. */
export interface MetricPoints {
  readonly chain: string;
  readonly metric: string;
  readonly interval: string;
  readonly points: readonly Point[];
}

/**
 * Response of an operation, before any fault. The body is the document or the text, or empty if both are
 * absent.
 */
export interface Answer {
  readonly status: number;
  readonly document?: JsonObject;
  readonly text?: string;
  /** Text after the document. Nodes end their responses with a line feed. */
  readonly ending?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly metric?: MetricPoints;
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Returns an error response of the data and metrics services. `message` is sometimes a list. */
export function problem(status: number, message: string | readonly string[]): Answer {
  return { status, document: { message, error: ERRORS[status] ?? 'Error', statusCode: status } };
}

/** Error for an invalid request. The error becomes an error response. */
export class Refusal extends Error {
  readonly status: number;
  readonly reasons: string | readonly string[];

  constructor(status: number, reasons: string | readonly string[]) {
    super(typeof reasons === 'string' ? reasons : reasons.join('; '));
    this.status = status;
    this.reasons = reasons;
  }
}
