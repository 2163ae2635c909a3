/** How a walk through pages goes where a fault changes it; what is left out is as it should be. */
export interface WalkManner {
  /** The list is sorted the other way. */
  readonly reversed?: boolean;
  /** So many items a page, whatever was asked for. */
  readonly pageSize?: number;
  /** The token for the page after this many is dead. */
  readonly pages?: number;
  /** A token is made of the place that it resumes at alone: the same place, the same token, at any time. */
  readonly tokensOfPlace?: boolean;
}
