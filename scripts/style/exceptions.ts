/** Generated pages, whose texts are checked in their source, and documents that are not rewritten yet. */
const EXEMPT: readonly RegExp[] = [
  /^docs\/reference\/(checks|cli|http|metrics|questions|relations|settings)\.md$/,
  /^docs\/reference\/datasets\//,
  /^docs\/explanation\/(decisions\/\d+.*|scale|seals|uptime|alternatives)\.md$/,
  /^docs\/how-to\/(alerts|back-up-and-restore|change-feed|deploy|export|high-availability|record-from-any-height|retention|runbook|upgrade)\.md$/,
  /^(bench|chaos|examples)\//,
];

/**
 * Exported names that still have several meanings. Rename them instead of adding one. Those of `src/client.ts`
 * are public names of the HTTP client.
 */
export const AMBIGUOUS_NAMES: ReadonlySet<string> = new Set(
  (
    'openAlerts LEASE_SECONDS Rule View Dataset Column Page optional validators pages alerts instant runs quarantine ' +
    'changeSinks discrepancies replicas queues State Verdict Schedule Row stateOf Difference NodeState parametersOf ' +
    'newestSeal Allowance pathOf moment'
  ).split(' '),
);

/** @param path from the root of the repository */
export const isExempt = (path: string): boolean => EXEMPT.some((pattern) => pattern.test(path));
