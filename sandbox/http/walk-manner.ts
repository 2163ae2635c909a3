/** Changes of a walk through pages by a fault. Absent: the correct behaviour. */
export interface WalkManner {
  /** The list is sorted the other way. */
  readonly reversed?: boolean;
  /** Number of items per page, regardless of the request. */
  readonly pageSize?: number;
  /** The token for the page after this many is dead. */
  readonly pages?: number;
  /** A token is made of the place that it resumes at alone: the same place, the same token, at any time. */
  readonly tokensOfPlace?: boolean;
}
