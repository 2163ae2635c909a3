/** What was started and must be ended, however a run ends: the last one first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];
  #ended = false;
  /** The ends of what was started after the end. */
  #late: Promise<void> = Promise.resolve();

  add(close: () => unknown): void {
    this.#closers.push(close);
    if (this.#ended) this.#late = this.#late.then(() => this.close());
  }

  /** Ends everything, also when one of the ends fails. Can be called again, also meanwhile. */
  async close(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop())
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => process.stderr.write(`chaos: could not clean up: ${String(error)}\n`));
  }

  /** Ends everything, for good: what is added from now on is ended at once. Can be called again. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.close();
    await this.#late;
  }
}
