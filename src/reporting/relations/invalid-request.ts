import { z } from 'zod';
import { findNearestName } from '../../lib/nearest-name.ts';

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
        return issue.keys.map((parameter) => ({
          parameter,
          problem: `is not a known parameter${hintOf(parameter, schema, issue.message)}`,
        }));
      return [{ parameter: issue.path.map(String).join('.'), problem: issue.message }];
    }),
  );
}

/** Maximum length of the list of known parameters in an error, in characters. */
const MAX_LIST_CHARACTERS = 600;

/** Returns a hint: the nearest known parameter, or the list of all parameters if no name is near. */
function hintOf(parameter: string, schema: z.ZodType, list: string): string {
  const nearest = findNearestName(parameter, namesOf(schema), Math.max(2, parameter.length / 3));
  if (nearest !== undefined) return `; did you mean "${nearest}"?`;
  if (list.length <= MAX_LIST_CHARACTERS) return `: ${list}`;
  const end = list.lastIndexOf(',', MAX_LIST_CHARACTERS);
  return `: ${list.slice(0, end)}, …; /openapi.json describes all`;
}

function namesOf(schema: z.ZodType): string[] {
  const object = schema instanceof z.ZodPipe ? schema.in : schema;
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}
