/**
 * Error of invalid usage or configuration that the user must correct. The command prints every problem and
 * exits with 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  /** @param problems lines that each start with an invalid path or option */
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

/**
 * Error of a temporary cause, after which a retry may succeed. The command exits with 75, so that a service
 * manager restarts the command.
 */
export class TemporaryError extends Error {
  override readonly name = 'TemporaryError';
}

/** Error of a process that was stopped before a command had completed. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  constructor(options?: ErrorOptions) {
    super('interrupted: run the same command again', options);
  }
}

/** Error of a run that lost the lease of its target to another run. The run must not commit anything more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(source: string, target: string) {
    super(`another run acquired the lease of ${source} ${target}; this run stops and commits nothing more`);
  }
}

/** Returns the message of a thrown value for a log or the `error` of a run, never a stack. */
export function toErrorMessage(error: unknown): string {
  // Node.js leaves the message empty if the connections to all of several addresses failed.
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(toErrorMessage).join('; ');
  return error instanceof Error ? error.message : String(error);
}
