/** The queue gives no answer. */
export class QueueAway extends Error {
  override readonly name = 'QueueAway';
}
