import type { App } from '../app/app.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { canRegister } from '../recording/configuration.ts';
import { registerTargets } from '../recording/register.ts';

/**
 * Registers the targets of a feed for a command in the foreground. If `up` runs with another configuration,
 * nothing is stored, so that the targets of that configuration stay unchanged.
 */
export async function registerUnlessRunning(app: App, feed: ConfiguredFeed): Promise<void> {
  const { database, configuration, clock, log } = app;
  const { recorder } = configuration;
  if (await canRegister(database.sql, configuration))
    await registerTargets(database.sql, feed, clock(), { recorder, digest: null });
  else
    log.warn(
      { recorder, feed: feed.source.name },
      'the running recorder has another configuration: this command records, and the watched targets stay unchanged',
    );
}
