import type { Page } from '../contract.ts';

/** The walk of a source whose one call answers everything. */
export async function* oneAnswer(call: () => Promise<unknown>): AsyncGenerator<Page> {
  yield wholeAnswer(await call());
}

/** The only page of a walk. @param refused methods that the node does not offer, said on the run */
export function wholeAnswer(body: unknown, refused: readonly string[] = []): Page {
  const page = { body, proven: null, last: true, whole: true };
  return refused.length > 0 ? { ...page, note: `not offered: ${refused.join(', ')}` } : page;
}
