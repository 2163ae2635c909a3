/** Lets one through at a time, in the order in which they came. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Waits for its turn. @returns a function that ends the turn @throws the signal's reason when it aborts first */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let end = () => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    // A caller that stopped waiting passes its turn on.
    this.#last = before.then(() => mine);
    let giveUp = () => {};
    const gaveUp = new Promise<never>((_, reject) => {
      giveUp = () => reject(signal.reason);
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
    try {
      await Promise.race([before, gaveUp]);
    } catch (error) {
      end();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return end;
  }
}
