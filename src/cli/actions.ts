import { UsageError } from '../lib/errors.ts';

/** What the actions of a command take. */
export interface TakenByActions {
  /** The actions that take a word behind them, such as a number of the list. */
  readonly word: readonly string[];
  /** Of each option that not all of them take: those that do. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/**
 * Refuses what an action does not take, so that nothing of a command line is passed over in silence.
 * @param given what stands behind the action, and the options by name
 * @throws UsageError with all that it does not take
 */
export function refuseOthers(
  command: string,
  action: string,
  given: { readonly word: string | undefined; readonly options: Readonly<Record<string, unknown>> },
  taken: TakenByActions,
): void {
  const named = (one: string) => `"${command} ${one}"`;
  const problems = [
    ...(given.word === undefined || taken.word.includes(action)
      ? []
      : [`${named(action)} takes nothing behind it, such as ${given.word}`]),
    ...Object.entries(taken.options)
      .filter(([name, actions]) => given.options[name] !== undefined && !actions.includes(action))
      .map(([name, actions]) => `--${name}: is an option of ${actions.map(named).join(' and ')}`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
}
