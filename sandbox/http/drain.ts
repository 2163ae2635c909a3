import type { ServerResponse } from 'node:http';

/** Waits until a response accepts more data, or its client has closed the connection. */
export function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function done(): void {
      response.off('drain', done).off('close', done);
      resolve();
    }
    response.once('drain', done).once('close', done);
  });
}
