/** Thrown if the queue does not answer. */
export class QueueAway extends Error {
  override readonly name = 'QueueAway';
}
