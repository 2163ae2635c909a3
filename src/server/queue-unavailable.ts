/** Thrown if the queue does not answer. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
