import { PUBLIC } from './access.ts';

/** What a browser says of a request: who made it, and what for. Other clients say nothing. */
interface Fetch {
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
  readonly 'sec-fetch-dest'?: string | string[] | undefined;
}

/**
 * Whether a page of another site made a browser send this request (an image, a script, a frame): it cannot read the answer, but one to
 * a question costs seconds of work. A link that somebody follows is none.
 */
export const isMadeElsewhere = (path: string, headers: Fetch): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document') &&
  !Object.values(PUBLIC).some((one) => one.test(path));
