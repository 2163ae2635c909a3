/** Delivery of the bytes of a response; times in real ms. */
export type Manner =
  | { readonly kind: 'whole' }
  /** Only a TCP reset. */
  | { readonly kind: 'reset' }
  /** Nothing at all, until the client times out. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'late'; readonly afterMs: number }
  /** One byte at a time. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /**
   * Half of the body. `length`: the header contains the length of the whole body. `chunked`: the last chunk
   * is missing. `close`: the connection closes without a length.
   */
  | { readonly kind: 'cut'; readonly by: 'length' | 'chunked' | 'close' }
  /** A JSON string of this many bytes. */
  | { readonly kind: 'endless'; readonly bytes: number };

/** A response to deliver. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly manner: Manner;
}

export const WHOLE: Manner = { kind: 'whole' };
