import { SpanKind, type Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

type Tracer = Telemetry['tracer'];
type Span = ReturnType<Tracer['startSpan']>;

/**
 * Returns the BullMQ traces for adding and processing jobs. Internal operations are excluded, because each
 * check for stalled jobs, every 1.5 s per worker, would be a trace.
 */
export function jobTraces(): Telemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'bullmq' });
  return {
    contextManager,
    tracer: {
      startSpan: (name, options, context) =>
        options?.kind === SpanKind.INTERNAL ? NO_SPAN : tracer.startSpan(name, options, context),
    },
  };
}

const NO_SPAN: Span = {
  setSpanOnContext: (context) => context,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};
