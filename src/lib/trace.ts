/** Attributes of a span. Attributes never contain a secret or a text of unbounded length. */
export type TracedAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work that is recorded as a span of a trace. */
export interface TraceSpan {
  /** Span name with low cardinality: the details are in the attributes. */
  readonly name: string;
  /**
   * True for a request to something outside this process, such as an upstream or the database (span kind
   * client).
   */
  readonly isClientCall?: boolean;
  readonly attributes?: TracedAttributes;
}

/**
 * Adds attributes that are known at the end of a piece of work.
 * @param failure reason of a failure that threw no error
 */
export type AddSpanAttributes = (attributes: TracedAttributes, failure?: string) => void;

/**
 * Runs a piece of work and records it as a child of the current span. Records a thrown error and throws it
 * again.
 */
export type RunInSpan = <T>(
  work: TraceSpan,
  does: (addAttributes: AddSpanAttributes) => Promise<T>,
) => Promise<T>;

/** Attributes of queries to the database. */
export const POSTGRESQL_ATTRIBUTES: TracedAttributes = { 'db.system.name': 'postgresql' };

/** Runs the work without a trace. */
export const untraced: RunInSpan = (_work, does) => does(() => {});
