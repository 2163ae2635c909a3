import { PUBLIC_PATHS } from './access.ts';

/** Fetch metadata headers of a browser. Other clients send none. */
interface FetchMetadata {
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
  readonly 'sec-fetch-dest'?: string | string[] | undefined;
}

/**
 * Returns whether a page of another site made a browser send this request (an image, a script, a frame). Such
 * a page cannot read the response, but a query costs seconds of work. Following a link does not count.
 */
export const isCrossSiteRequest = (path: string, headers: FetchMetadata): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document') &&
  !Object.values(PUBLIC_PATHS).some((one) => one.test(path));
