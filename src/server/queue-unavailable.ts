/** Error of a queue that does not respond. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
