/** Root of the package: two folders above this file in the sources, one above the bundle in `dist/`. */
const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url);

/** Returns the URL of a file of this package, by its path from the package's root. */
export const packageFile = (path: string): URL => new URL(path, ROOT);
