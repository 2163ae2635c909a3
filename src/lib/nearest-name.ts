import leven from 'leven';

/**
 * Returns the name with the smallest edit distance to an unknown name. Returns undefined if no name is near.
 * @param most maximum edit distance
 */
export function findNearestName(
  written: string,
  names: readonly string[],
  most = Math.max(1, written.length / 3),
): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_ ]/g, '');
  const [best] = names
    .map((name) => ({ name, distance: leven(plain(written), plain(name)) }))
    .sort((one, other) => one.distance - other.distance);
  return best && best.distance <= most ? best.name : undefined;
}

/** Returns a hint for an unknown name: the nearest known name, or all known names if no name is near. */
export function suggestNames(written: string, names: readonly string[]): string {
  const nearest = findNearestName(written, names);
  return nearest === undefined ? `there are ${names.join(', ') || 'none'}` : `did you mean ${nearest}?`;
}
