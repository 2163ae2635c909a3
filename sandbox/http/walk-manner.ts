/** Changes of a walk through pages by a fault. Default: the correct behaviour. */
export interface WalkManner {
  /** The list is sorted the other way. */
  readonly reversed?: boolean;
  /** Number of items per page, regardless of the request. */
  readonly pageSize?: number;
  /** The token for the page after this many is expired. */
  readonly pages?: number;
  /** A token depends only on its place: the same place, the same token, at any time. */
  readonly tokensOfPlace?: boolean;
}
