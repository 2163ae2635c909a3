import type { App } from '../app/app.ts';
import type { ChangesConfig } from '../config/changes-schema.ts';
import { collectTexts, type NamedSecrets, readReferencedSecrets } from '../config/named-secrets.ts';
import { UsageError } from '../lib/errors.ts';
import { removeOldChanges } from '../warehouse/change-sinks.ts';
import type { SendingContext } from '../warehouse/send-changes.ts';

/** Reads the secrets that change sinks reference. */
export const sinkSecrets = ({ sinks }: ChangesConfig): NamedSecrets =>
  readReferencedSecrets(collectTexts(sinks));

/**
 * Checks the secrets that sinks reference.
 * @returns every problem, with its path in the configuration file; empty if all are valid
 */
export function checkSinkSecrets(changes: ChangesConfig, secrets = sinkSecrets(changes)): string[] {
  return changes.sinks.flatMap((sink, at) =>
    Object.entries(sink).flatMap(([name, value]) =>
      collectTexts(value).flatMap((text) =>
        secrets.problems(text).map((problem) => `changes.sinks[${at}].${name}: ${problem}`),
      ),
    ),
  );
}

/**
 * Returns the context for sending changes.
 * @throws UsageError if a variable that a sink references is missing
 */
export function createSendingContext({ config, database, log }: App): SendingContext {
  const secrets = sinkSecrets(config.changes);
  const problems = checkSinkSecrets(config.changes, secrets);
  if (problems.length > 0) throw new UsageError(problems);
  return { sql: database.sql, recorder: config.name, secrets, log };
}

/** Removes changes that the feed no longer has to keep. */
export const trimChanges = (
  { config: { name, changes }, database }: App,
  signal: AbortSignal,
): Promise<number> =>
  removeOldChanges(
    database.sql,
    name,
    changes.sinks.map((sink) => sink.name),
    changes.keep,
    signal,
  );
