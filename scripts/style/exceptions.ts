/** Files without a check of their texts, each with its reason. */
const EXEMPT: readonly { readonly path: RegExp; readonly reason: string }[] = [
  {
    path: /^docs\/reference\/(checks|cli|metrics|questions|relations|settings)\.md$/,
    reason: 'generated: the texts are checked in their source',
  },
  { path: /^docs\/reference\/datasets\//, reason: 'generated: the texts are checked in their source' },
  {
    path: /^test\/scripts\/style\.test\.ts$/,
    reason: 'contains texts with problems for the test of the rules',
  },
];

/** @param path from the root of the repository */
export const isExempt = (path: string): boolean => EXEMPT.some((exempt) => exempt.path.test(path));
