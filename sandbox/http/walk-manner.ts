/** Changes of a walk through pages by a fault. Default: the correct behaviour. */
export interface WalkManner {
  /** True if the list is sorted in the opposite order. */
  readonly reversed?: boolean;
  /** Number of items per page, regardless of the request. */
  readonly pageSize?: number;
  /** Number of pages after which the token of the next page is expired. */
  readonly pages?: number;
  /** True if a token depends only on its place, so that a place has the same token at any time. */
  readonly tokensOfPlace?: boolean;
}
