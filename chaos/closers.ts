/** What was started and must be ended, however a run ends: the last one first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Ends everything, also when one of the ends fails. Can be called again, also meanwhile. */
  async close(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop())
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => process.stderr.write(`chaos: could not clean up: ${String(error)}\n`));
  }
}
