/** Wrong usage or configuration, which the user must correct. The command exits 2 and prints every problem. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  /** @param problems one line each, beginning with the path or the option it is about */
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

/** A failure that may pass by itself. The command exits 75, so that a service manager starts it again. */
export class TemporaryError extends Error {
  override readonly name = 'TemporaryError';
}

/** Somebody stopped the process before a command had done all. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(options?: ErrorOptions) {
    super('interrupted: run the same command again', options);
  }
}

/** Another worker holds the target, or took it over. Nothing of this run may be committed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(source: string, target: string) {
    super(`the lease on ${source} ${target} went to another run; this one stops and commits nothing more`);
  }
}

/** The message of anything thrown, for a log or a run's `error`; never a stack. */
export function messageOf(error: unknown): string {
  // Node.js itself says nothing where none of several addresses could be connected to.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
