import { UsageError } from '../lib/errors.ts';

/** The actions of a command that accept an argument, and the actions that accept each option. */
export interface ActionArguments {
  /** Actions that accept an argument, such as an id. */
  readonly word: readonly string[];
  /** Actions by option, for options that not all actions accept. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/**
 * Rejects arguments and options that an action does not accept, so that no argument or option is silently
 * ignored.
 * @param input argument after the action, and options by name
 * @throws UsageError with every rejected argument and option
 */
export function rejectUnsupportedArguments(
  command: string,
  action: string,
  input: { readonly word: string | undefined; readonly options: Readonly<Record<string, unknown>> },
  supported: ActionArguments,
): void {
  const named = (one: string) => `"${command} ${one}"`;
  const problems = [
    ...(input.word === undefined || supported.word.includes(action)
      ? []
      : [`${named(action)} accepts no argument: remove "${input.word}"`]),
    ...Object.entries(supported.options)
      .filter(([name, actions]) => input.options[name] !== undefined && !actions.includes(action))
      .map(([name, actions]) => `--${name}: is an option of ${actions.map(named).join(' and ')}`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
}
