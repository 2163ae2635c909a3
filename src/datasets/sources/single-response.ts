import type { SourcePage } from '../contract.ts';

/** Walks a source whose single call returns everything. */
export async function* walkSingleResponse(call: () => Promise<unknown>): AsyncGenerator<SourcePage> {
  yield singleResponsePage(await call());
}

/**
 * Returns the only page of a walk.
 * @param refused methods that the node does not offer, for the note of the run
 */
export function singleResponsePage(body: unknown, refused: readonly string[] = []): SourcePage {
  const page = { body, proven: null, last: true, whole: true };
  return refused.length > 0 ? { ...page, note: `unsupported: ${refused.join(', ')}` } : page;
}
