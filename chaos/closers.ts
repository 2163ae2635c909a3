/** Functions that end what was started, however a run ends: the last one first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];
  #ended = false;
  /** Ends run one after the other, for any caller: a dependency must not end before its dependents. */
  #closing: Promise<void> = Promise.resolve();

  add(close: () => unknown): void {
    this.#closers.push(close);
    if (this.#ended) void this.close();
  }

  /** Ends everything, also if one of the ends fails. Can be called again, also meanwhile, but not by an end. */
  close(): Promise<void> {
    this.#closing = this.#closing.then(() => this.#closeAll());
    return this.#closing;
  }

  /** Ends everything permanently: whatever is added from now on is ended at once. Can be called again. */
  end(): Promise<void> {
    this.#ended = true;
    return this.close();
  }

  async #closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop())
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => process.stderr.write(`chaos: could not clean up: ${String(error)}\n`));
  }
}
