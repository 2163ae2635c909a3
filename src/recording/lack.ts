/** What a dataset lacks of what a walk showed. */
export interface Lack {
  /** Items that went to the quarantine: recorded rows with their keys stay as they are. */
  unstored: number;
  /** Those of them whose key could not be read. */
  unknown: number;
  /** One key came with two values. */
  moved: boolean;
}

/** Why a dataset is incomplete, for a person; null: it lacks nothing. */
export function whyIncomplete({ unstored, unknown, moved }: Lack): string | null {
  const items = (count: number) => (count === 1 ? '1 item' : `${count} items`);
  if (unknown > 0)
    return `${items(unknown)} whose key could not be read in the quarantine: nothing is retired`;
  if (moved) return 'one key came with two values: nothing is retired';
  if (unstored > 0) return `${items(unstored)} in the quarantine: what has their keys stays as it was`;
  return null;
}
