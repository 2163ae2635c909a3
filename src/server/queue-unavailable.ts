/** Error of a query of the queue that failed or timed out. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
