import { UpstreamFailure } from '../../upstreams/failure.ts';
import { memberOf } from './answer.ts';

const MOST_EMPTY_PAGES = 10;

/** The page tokens of one start of a walk: each is new, and leads to items before long. */
export class PageTokens {
  readonly #seen = new Set<string>();
  #emptyPages = 0;

  /**
   * The token of the next page, from an answer; undefined where there is none.
   * @param items how many the answer holds
   * @throws UpstreamFailure (malformed) when a token is no string or came before, or too many pages are empty
   */
  next(body: unknown, items: number): string | undefined {
    const next = memberOf(body, 'nextPageToken');
    if (next === undefined || next === null || next === '') return undefined;
    if (typeof next !== 'string') throw new UpstreamFailure('malformed', 'nextPageToken is not a string');
    if (this.#seen.has(next)) throw new UpstreamFailure('malformed', 'the same nextPageToken came twice');
    this.#seen.add(next);
    this.#emptyPages = items === 0 ? this.#emptyPages + 1 : 0;
    if (this.#emptyPages > MOST_EMPTY_PAGES)
      throw new UpstreamFailure(
        'malformed',
        `${this.#emptyPages} empty pages in a row, each with a nextPageToken`,
      );
    return next;
  }
}
