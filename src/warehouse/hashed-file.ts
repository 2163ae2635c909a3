import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fdatasync, openSync, writeSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** A new local file with a SHA-256 that is computed while writing. */
export class HashedFile {
  readonly #file: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #open = true;

  constructor(path: string) {
    this.#file = openSync(path, 'wx');
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** Waits until the content is on disk (fdatasync), and closes the file. */
  async finish(): Promise<{ bytes: number; sha256: string }> {
    await promisify(fdatasync)(this.#file);
    this.abandon();
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Closes the file without finishing it. */
  abandon(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }
}

/** Returns the SHA-256 of a local file, in hexadecimal. */
export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { signal, highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
