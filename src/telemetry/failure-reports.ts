import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { toErrorMessage } from '../lib/errors.ts';

/** The methods of an exporter of spans or log records that a batch processor calls. */
interface Exporter<T> {
  export(items: T[], done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

/**
 * An exporter that reports when its endpoint becomes unavailable and when it is available again: once per
 * change, not per batch. The processor always receives success, because dropped batches are not retried.
 */
export class FailureReportingExporter<T> implements Exporter<T> {
  readonly #exporter: Exporter<T>;
  readonly #tell: (cause: string | null) => void;
  #failing = false;

  /** @param tell receives the cause of the failure; null: the endpoint accepts batches again */
  constructor(exporter: Exporter<T>, tell: (cause: string | null) => void) {
    this.#exporter = exporter;
    this.#tell = tell;
  }

  export(items: T[], done: (result: ExportResult) => void): void {
    this.#exporter.export(items, ({ code, error }) => {
      const failed = code !== ExportResultCode.SUCCESS;
      if (failed !== this.#failing) this.#tell(failed ? toErrorMessage(error) : null);
      this.#failing = failed;
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
