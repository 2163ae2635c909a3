import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRecordDatabase } from '../../src/app/open-database.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { withStartLock } from '../../src/db/embedded/embedded.ts';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import { stopServer } from '../../src/db/embedded/server.ts';
import { openLog } from '../../src/telemetry/log.ts';

it.each([
  { stops: 2, outcome: 'opens the embedded database again if its server is stopped meanwhile' },
  { stops: Number.POSITIVE_INFINITY, outcome: 'fails if the server is stopped at each attempt' },
])('$outcome', async ({ stops }) => {
  const path = await mkdtemp(join(tmpdir(), 'opened-'));
  const log = openLog({ logLevel: 'silent', logJson: true });
  let stopped = 0;
  let stopping: Promise<unknown> = Promise.resolve();
  const stop = async () => {
    const home = await embeddedHome(path, log);
    await withStartLock(home, () => stopServer(home));
  };
  try {
    const opening = openRecordDatabase(
      { ...readEnvironment(), databaseUrl: undefined },
      { path, isTemporary: true, close: async () => {} },
      log,
      {
        // Runs concurrently with the migration, as the exit of another container would.
        load: () => {
          if (stopped++ < stops) stopping = stop();
          return stopping;
        },
      },
    );
    if (stops === Number.POSITIVE_INFINITY) {
      await expect(opening).rejects.toSatisfy(isDatabaseUnavailable);
      expect(stopped).toBe(3);
      return;
    }
    const record = await opening;
    expect(await record.database.sql`select 1 as one`).toEqual([{ one: 1 }]);
    expect(stopped).toBe(stops + 1);
    await record.close();
  } finally {
    await stopping;
    const { path: home } = await embeddedHome(path, log);
    await rm(home, { recursive: true, force: true });
    await rm(path, { recursive: true, force: true });
  }
});
