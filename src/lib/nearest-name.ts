import leven from 'leven';

/**
 * The name that was probably meant by one that is none, by the letters that differ; undefined: none is near.
 * @param most so many letters may differ
 */
export function nearestName(
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
