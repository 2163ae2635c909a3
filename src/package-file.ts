/**
 * The URL of a file of this package, by its path from the package's root. Sources are in `src/` and what is built of them in `dist/`,
 * so that this file, or what it is bundled into, is always one folder below the root.
 */
export const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url);
