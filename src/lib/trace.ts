/** Attributes of a span. Attributes never contain a secret or a text of unbounded length. */
export type TracedAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work that is recorded as a span of a trace. */
export interface TraceSpan {
  /** Span name of low cardinality. The details are in the attributes. */
  readonly name: string;
  /** True for a request to another process, such as an upstream or the database (span kind client). */
  readonly isClientCall?: boolean;
  readonly attributes?: TracedAttributes;
}

/**
 * A function that adds attributes that are known at the end of a piece of work.
 * @param failure reason of a failure that threw no error
 */
export type AddSpanAttributes = (attributes: TracedAttributes, failure?: string) => void;

/**
 * A function that runs a piece of work and records the work as a child of the current span. A thrown error is
 * recorded and thrown again.
 */
export type RunInSpan = <T>(
  work: TraceSpan,
  does: (addAttributes: AddSpanAttributes) => Promise<T>,
) => Promise<T>;

/** Attributes of queries to the database. */
export const POSTGRESQL_ATTRIBUTES: TracedAttributes = { 'db.system.name': 'postgresql' };

/** Runs the work without a trace. */
export const untraced: RunInSpan = (_work, does) => does(() => {});
