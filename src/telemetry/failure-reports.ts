import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { messageOf } from '../lib/errors.ts';

/** What a batch processor asks of an exporter of spans or log records. */
interface Exporter<T> {
  export(items: T[], done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

/**
 * An exporter whose endpoint may be away: the first batch that it does not take is told, and the first that it takes again.
 * The processor is told that each was taken, because what was dropped is not tried again.
 */
export class Told<T> implements Exporter<T> {
  readonly #exporter: Exporter<T>;
  readonly #tell: (cause: string | null) => void;
  #failing = false;

  /** @param tell is given the cause; null: batches are taken again */
  constructor(exporter: Exporter<T>, tell: (cause: string | null) => void) {
    this.#exporter = exporter;
    this.#tell = tell;
  }

  export(items: T[], done: (result: ExportResult) => void): void {
    this.#exporter.export(items, ({ code, error }) => {
      const failed = code !== ExportResultCode.SUCCESS;
      if (failed !== this.#failing) this.#tell(failed ? messageOf(error) : null);
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
