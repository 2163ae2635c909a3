/** Delivery of the bytes of a response; times in real ms. */
export type Manner =
  | { readonly kind: 'whole' }
  /** Nothing but a TCP reset. */
  | { readonly kind: 'reset' }
  /** Nothing at all, until the client gives up. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'late'; readonly afterMs: number }
  /** One byte at a time. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** Half of the body: with the whole length announced, in chunks, or up to the end of the stream. */
  | { readonly kind: 'cut'; readonly by: 'length' | 'chunked' | 'close' }
  /** A JSON string that goes on for so many bytes. */
  | { readonly kind: 'endless'; readonly bytes: number };

/** An answer on its way out. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly manner: Manner;
}

export const WHOLE: Manner = { kind: 'whole' };
