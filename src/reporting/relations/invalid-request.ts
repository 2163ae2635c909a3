import type { z } from 'zod';

/** What is wrong with one parameter. */
export interface Problem {
  readonly parameter: string;
  /** What it must be, or which ones there are. */
  readonly problem: string;
}

/** A request that cannot be answered as it was asked. */
export class AskedWrongly extends Error {
  override readonly name = 'AskedWrongly';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ parameter, problem }) => `${parameter} ${problem}`).join('; '));
    this.problems = problems;
  }
}

/** Checks parameters. @throws AskedWrongly with everything that is wrong */
export function checked<T>(schema: z.ZodType<T>, parameters: unknown): T {
  const read = schema.safeParse(parameters);
  if (read.success) return read.data;
  throw new AskedWrongly(
    read.error.issues.flatMap((issue): Problem[] => {
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((parameter) => ({ parameter, problem: `is not known here: ${issue.message}` }));
      return [{ parameter: issue.path.map(String).join('.'), problem: issue.message }];
    }),
  );
}
