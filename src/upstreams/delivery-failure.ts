/** A channel did not take a message. Its text is all that the channel said, secrets too: `causeOf` gives what may be kept. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  /** `refused`: it will never take this message. `too-large`: it may take less. `down`: it may take it later. */
  readonly kind: 'refused' | 'too-large' | 'down';
  /** Whether it may have arrived all the same. */
  readonly mayHaveArrived: boolean;
  /** How long the channel asked us to stay away, ms; null: it did not. */
  readonly wait: number | null;

  constructor(
    kind: 'refused' | 'too-large' | 'down',
    message: string,
    { mayHaveArrived = false, wait = null }: { mayHaveArrived?: boolean; wait?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.mayHaveArrived = mayHaveArrived;
    this.wait = wait;
  }
}
