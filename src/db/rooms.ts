/** The most bytes that are kept for later, of all sizes together. */
const MOST = 8 * 1024 * 1024;
/** The smallest room is two to the power of this. */
const SMALLEST = 9;

/**
 * Buffers outside of the heap that are used again. To make them anew for each column of each commit takes a tenth of the recorder's
 * processor time: pages of memory are cleared, and V8 looks through its whole heap each time that much was made outside of it.
 */
export class Rooms {
  /** By the power of two that is their size. */
  readonly #free: Buffer[][] = [];
  #kept = 0;

  /** A buffer that nobody else has, of at least so many bytes; they may be any. */
  take(bytes: number): Buffer {
    const power = Math.max(powerOf(bytes), SMALLEST);
    const buffer = this.#free[power]?.pop();
    if (!buffer) return Buffer.allocUnsafeSlow(2 ** power);
    this.#kept -= buffer.length;
    return buffer;
  }

  /** Takes back a buffer of {@link take}. Whoever gives it back uses it no more, and gives it once. */
  giveBack(buffer: Buffer): void {
    if (this.#kept + buffer.length > MOST) return;
    this.#kept += buffer.length;
    const power = powerOf(buffer.length);
    const others = this.#free[power];
    if (others) others.push(buffer);
    else this.#free[power] = [buffer];
  }
}

/** The power of two that so many bytes fit into. */
const powerOf = (bytes: number) => 32 - Math.clz32(bytes - 1);
