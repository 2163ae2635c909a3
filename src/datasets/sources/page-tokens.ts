import { UpstreamFailure } from '../../upstreams/failure.ts';
import { getMember } from './answer.ts';

const MAX_EMPTY_PAGES = 10;

/**
 * Validates the page tokens of one start of a walk: tokens must be new, and the number of empty pages is
 * limited.
 */
export class PageTokens {
  readonly #seen = new Set<string>();
  #emptyPages = 0;

  /**
   * Returns the token of the next page. Returns undefined if there is none.
   * @param items number of items in the response
   * @throws UpstreamFailure (malformed) if a token is no string or is repeated, or too many pages are empty
   */
  next(body: unknown, items: number): string | undefined {
    const next = getMember(body, 'nextPageToken');
    if (next === undefined || next === null || next === '') return undefined;
    if (typeof next !== 'string') throw new UpstreamFailure('malformed', 'nextPageToken is not a string');
    if (this.#seen.has(next)) throw new UpstreamFailure('malformed', 'the same nextPageToken came twice');
    this.#seen.add(next);
    this.#emptyPages = items === 0 ? this.#emptyPages + 1 : 0;
    if (this.#emptyPages > MAX_EMPTY_PAGES)
      throw new UpstreamFailure(
        'malformed',
        `${this.#emptyPages} empty pages in a row, each with a nextPageToken`,
      );
    return next;
  }
}
