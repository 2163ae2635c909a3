/** A mutex that serves its callers in order. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /**
   * Acquires the mutex.
   * @returns a function that releases the mutex
   * @throws the reason of the signal if it aborts first
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let end = () => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    // A caller that stopped waiting releases its place immediately.
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
