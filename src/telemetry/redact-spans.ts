import type { Attributes, AttributeValue } from '@opentelemetry/api';
import type { ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

/** Exporter that redacts secrets in every text of a span, also in spans that libraries created. */
export class RedactingSpanExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  #redact: (text: string) => string = (text) => text;

  constructor(exporter: SpanExporter) {
    this.#exporter = exporter;
  }

  redactBy(redact: (text: string) => string): void {
    this.#redact = redact;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(
      spans.map((span) => this.#clean(span)),
      done,
    );
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #clean(span: ReadableSpan): ReadableSpan {
    const { status, events } = span;
    const { message } = status;
    return {
      name: this.#redact(span.name),
      kind: span.kind,
      spanContext: () => span.spanContext(),
      ...(span.parentSpanContext && { parentSpanContext: span.parentSpanContext }),
      startTime: span.startTime,
      endTime: span.endTime,
      status: message === undefined ? status : { ...status, message: this.#redact(message) },
      attributes: this.#cleanAttributes(span.attributes),
      links: span.links,
      events: events.map((event) => ({
        ...event,
        ...(event.attributes && { attributes: this.#cleanAttributes(event.attributes) }),
      })),
      duration: span.duration,
      ended: span.ended,
      resource: span.resource,
      instrumentationScope: span.instrumentationScope,
      droppedAttributesCount: span.droppedAttributesCount,
      droppedEventsCount: span.droppedEventsCount,
      droppedLinksCount: span.droppedLinksCount,
    };
  }

  #cleanAttributes(attributes: Attributes): Attributes {
    return Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, this.#cleanValue(value)]),
    );
  }

  #cleanValue(value: AttributeValue | undefined): AttributeValue | undefined {
    if (typeof value === 'string') return this.#redact(value);
    if (!Array.isArray(value)) return value;
    const texts: (string | null | undefined)[] = [];
    for (const one of value) {
      if (typeof one !== 'string') return value;
      texts.push(this.#redact(one));
    }
    return texts;
  }
}
