/** Generated pages, whose texts are checked in their source, and documents of developers' programs. */
const EXEMPT: readonly RegExp[] = [
  /^docs\/reference\/(checks|cli|metrics|questions|relations|settings)\.md$/,
  /^docs\/reference\/datasets\//,
  /^(bench|chaos|examples)\//,
];

/** @param path from the root of the repository */
export const isExempt = (path: string): boolean => EXEMPT.some((pattern) => pattern.test(path));
