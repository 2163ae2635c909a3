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

/** Returns the error of a request with one invalid parameter. */
export const invalidParameter = (parameter: string, problem: string) =>
  new InvalidRequestError([{ parameter, problem }]);

/** Validates parameters. @throws InvalidRequestError with all problems */
export function validateParameters<Schema extends z.ZodType>(
  schema: Schema,
  parameters: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const names = namesOf(schema);
  const known = names.length > 0 ? `there are ${names.join(', ')}` : 'there are no parameters';
  const read = schema.safeParse(parameters, {
    error: ({ code }) => (code === 'unrecognized_keys' ? known : undefined),
  });
  if (read.success) return read.data;
  throw new InvalidRequestError(
    read.error.issues.flatMap((issue): ParameterProblem[] => {
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((parameter) => ({
          parameter,
          problem: `is not a known parameter${hintOf(parameter, names, issue.message)}`,
        }));
      const parameter = issue.path.map(String).join('.');
      // For a repeated parameter, Zod may report an issue of its items instead of the parameter.
      const isRepeated = Array.isArray(parameters[parameter]) && issue.code.startsWith('invalid_');
      return [{ parameter, problem: isRepeated ? 'is given more than once' : issue.message }];
    }),
  );
}

/** Maximum length of the list of known parameters in an error, in characters. */
const MAX_LIST_CHARACTERS = 600;

/** Returns a hint: the nearest known parameter, or the list of all parameters if no name is near. */
function hintOf(parameter: string, names: readonly string[], list: string): string {
  const nearest = findNearestName(parameter, names, Math.max(2, parameter.length / 3));
  if (nearest !== undefined) return `; did you mean "${nearest}"?`;
  if (list.length <= MAX_LIST_CHARACTERS) return `: ${list}`;
  const end = list.lastIndexOf(',', MAX_LIST_CHARACTERS);
  return `: ${list.slice(0, end)}, …; /openapi.json describes all`;
}

function namesOf(schema: z.ZodType): string[] {
  const object = schema instanceof z.ZodPipe ? schema.in : schema;
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}
