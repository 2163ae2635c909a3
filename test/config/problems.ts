import { UsageError } from '../../src/lib/errors.ts';

/** Returns the problems of the usage error that a call throws, without a file's name, or none. */
export function problemsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.problems.map((one) => one.replace(/^\S+\.yaml: /, ''));
    throw error;
  }
  return [];
}
