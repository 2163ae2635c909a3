import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Begins with the faults: their file is short and takes minutes, and the others run beside it. */
class FaultsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/test/chaos/short.test.ts');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // What hangs is ended. How long the longest test takes on a slow machine that is busy, nobody can know.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Tests wait more than they work, so that two processors have time for four at once.
    maxWorkers: 4,
    // Files of one worker share what is loaded; what they share besides (databases, servers, clocks) each makes for itself.
    isolate: false,
    sequence: { sequencer: FaultsFirst },
    // A machine that is busy takes its time; what is polled for comes or the test fails.
    expect: { poll: { timeout: 15_000 } },
  },
});
