import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, it } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { checkDatabase } from '../../src/db/examine-database.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';

it('reports a server whose lock table is full, and is healthy once the session ended', async () => {
  const place = await mkdtemp(join(tmpdir(), 'full-locks-'));
  await chmod(place, 0o755); // as root the server runs as another user
  const dir = join(place, '.recorder');
  const server = await openEmbedded({ dir, log: { info: () => {}, warn: () => {} } });
  await migrate(server.url);
  const session = postgres(server.url, {
    max: 1,
    onnotice: () => {},
    connection: { application_name: 'filler' },
  });
  await expect(session`select count(pg_advisory_lock(n)) from generate_series(1, 1000000) n`).rejects.toThrow(
    'out of shared memory',
  );
  expect(await checkDatabase(server.url)).toMatchObject({
    ok: false,
    found: expect.stringMatching(/^127\.0\.0\.1:\d+ lacks memory: out of shared memory$/),
    fix: expect.stringMatching(/^end the program whose session holds so many locks .*limit-readers\.sql/),
  });
  await session.end({ timeout: 1 });
  expect(await checkDatabase(server.url)).toMatchObject({ ok: true });
  await server.close();
  await rm(await realpath(join(dir, 'postgres')), { recursive: true });
  await rm(place, { recursive: true });
});
