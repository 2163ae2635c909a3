import type { App } from '../app/app.ts';
import type { ChangesConfig } from '../config/changes-schema.ts';
import { type NamedSecrets, readNamed, textsIn } from '../config/named-secrets.ts';
import { UsageError } from '../lib/errors.ts';
import { keepChanges } from '../warehouse/change-sinks.ts';
import type { SendingContext } from '../warehouse/send-changes.ts';

/** What sinks of changes name of the environment. */
export const sinkSecrets = ({ sinks }: ChangesConfig): NamedSecrets => readNamed(textsIn(sinks));

/** What sinks name of the environment and is not sound, by its path in the file. @returns every problem; empty: none */
export function sinkProblems(changes: ChangesConfig, secrets = sinkSecrets(changes)): string[] {
  return changes.sinks.flatMap((sink, at) =>
    Object.entries(sink).flatMap(([name, value]) =>
      textsIn(value).flatMap((text) =>
        secrets.problems(text).map((problem) => `changes.sinks[${at}].${name}: ${problem}`),
      ),
    ),
  );
}

/** @throws UsageError when a variable is missing that a sink names */
export function sendingOf({ config, database, log }: App): SendingContext {
  const secrets = sinkSecrets(config.changes);
  const problems = sinkProblems(config.changes, secrets);
  if (problems.length > 0) throw new UsageError(problems);
  return { sql: database.sql, recorder: config.name, secrets, log };
}

/** Removes what need not be kept of the feed. */
export const trimChanges = (
  { config: { name, changes }, database }: App,
  signal: AbortSignal,
): Promise<number> =>
  keepChanges(
    database.sql,
    name,
    changes.sinks.map((sink) => sink.name),
    changes.keep,
    signal,
  );
