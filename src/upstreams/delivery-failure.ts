/**
 * A message that a channel did not accept. The error message is the full response and may contain secrets;
 * `describeDeliveryError` returns the text that may be stored.
 */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  /**
   * `refused`: the channel will never accept this message. `too-large`: the channel may accept a smaller
   * message. `down`: the channel may accept this message later.
   */
  readonly kind: 'refused' | 'too-large' | 'down';
  /** True if the message may have arrived despite the failure. */
  readonly mayHaveArrived: boolean;
  /** Pause that the channel requested, in ms. Null: none. */
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
