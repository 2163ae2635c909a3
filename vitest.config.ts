import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take the longest, longest first. Many of them are short, and Vitest starts with the largest files where it has
 * measured none, so that they would run last and alone.
 */
const SLOWEST_FILES = [
  ...['chaos/short', 'recording/backfill-heights', 'health/month'],
  ...['recording/identity/identity-situations', 'cli/first-chart', 'db/migrate-killed'],
  ...['recording/late-index', 'recording/moving-lists', 'cli/creates-nothing', 'every-operation/page-sizes'],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOWEST_FILES.indexOf(/\/test\/(.+?)(\.slow)?\.test\.ts$/.exec(moduleId)?.[1] ?? '');
      return place < 0 ? SLOWEST_FILES.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

const shared = {
  // What hangs is ended. A slow file whose tests take longer names its own limit.
  testTimeout: 30_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // Files of one worker share what is loaded; what they share besides (databases, servers, clocks) each makes for itself.
  isolate: false,
  // A machine that is busy takes its time; what is polled for comes or the test fails.
  expect: { poll: { timeout: 15_000 } },
  setupFiles: process.env.TEST_PROFILE ? ['test/profile/measure.ts'] : [],
};

const slow = 'test/**/*.slow.test.ts';

export default defineConfig({
  test: {
    // One PostgreSQL and one Redis for both projects.
    globalSetup: ['test/support/global-setup.ts'],
    // Tests wait more than they work, so that two processors have time for four at once.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      // What a developer runs all day: `npm test`.
      { test: { ...shared, name: 'fast', include: ['test/**/*.test.ts'], exclude: [slow] } },
      // Many processes, Chromium, kills, simulated months, packing, recorded databases: only `npm run test:all`.
      { test: { ...shared, name: 'slow', include: [slow], testTimeout: 300_000, hookTimeout: 300_000 } },
    ],
  },
});
