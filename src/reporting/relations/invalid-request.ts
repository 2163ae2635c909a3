import type { z } from 'zod';

/** An invalid parameter and the reason. */
export interface ParameterProblem {
  readonly parameter: string;
  /** The expected value, or the allowed parameters. */
  readonly problem: string;
}

/** A request with invalid parameters. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
  readonly problems: readonly ParameterProblem[];

  constructor(problems: readonly ParameterProblem[]) {
    super(problems.map(({ parameter, problem }) => `${parameter} ${problem}`).join('; '));
    this.problems = problems;
  }
}

/** Validates parameters. @throws InvalidRequestError with all problems */
export function validateParameters<T>(schema: z.ZodType<T>, parameters: unknown): T {
  const read = schema.safeParse(parameters);
  if (read.success) return read.data;
  throw new InvalidRequestError(
    read.error.issues.flatMap((issue): ParameterProblem[] => {
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((parameter) => ({ parameter, problem: `is not known here: ${issue.message}` }));
      return [{ parameter: issue.path.map(String).join('.'), problem: issue.message }];
    }),
  );
}
