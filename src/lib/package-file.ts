/** From the sources, this file is two folders below the package's root; bundled in `dist/`, one. */
const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url);

/** Returns the URL of a file of this package, by its path from the package's root. */
export const packageFile = (path: string): URL => new URL(path, ROOT);
