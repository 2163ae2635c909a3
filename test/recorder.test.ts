import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openRecorder, type Recorder } from '../src/recorder.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { sendJson, type UpstreamServer, upstreamServer } from './support/upstream-server.ts';

describe('a recorder inside another program', () => {
  const before = process.env.DATABASE_URL;
  let database: TestDatabase;
  let sql: postgres.Sql;
  let server: UpstreamServer;
  let recorder: Recorder;
  let dir: string;
  /** Called when a node is requested. */
  let onRequest = () => {};

  beforeAll(async () => {
    database = await testDatabase();
    sql = postgres(database.url, { max: 1, onnotice: () => {} });
    server = await upstreamServer(({ body }, response) => {
      onRequest();
      sendJson(response, { jsonrpc: '2.0', id: JSON.parse(body).id, result: { height: '5' } });
    });
    dir = mkdtempSync(join(tmpdir(), 'recorder-inside-'));
    const config = join(dir, 'recorder.yaml');
    const nodes = ['a', 'b'].map((name) => ({ name, url: `${server.url}/${name}` }));
    writeFileSync(config, stringify({ network: 'mainnet', upstreams: { nodes } }));
    process.env.DATABASE_URL = database.url;
    recorder = await openRecorder({ config });
  });
  afterAll(async () => {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await recorder.close();
    await server.close();
    await sql.end();
    await database.close();
    rmSync(dir, { recursive: true });
  });

  it('returns its runs', async () => {
    const runs = await recorder.record('chain_heights');
    expect(runs.map(({ target, status }) => [target, status]).sort()).toEqual([
      ['chain=X node=a', 'done'],
      ['chain=X node=b', 'done'],
    ]);
  });

  it('throws the names of unrecorded targets, with the runs that it completed', async () => {
    await recorder.record('chain_heights');
    const stop = new AbortController();
    onRequest = () => stop.abort();
    // Another process records it.
    await sql`
      update recorder.targets set run_id = 1, lease_until = clock_timestamp() + interval '5 s' where target_key = 'chain=X node=b'`;
    const recording = recorder.record('chain_heights', { signal: stop.signal });
    await expect(recording).rejects.toMatchObject({
      name: 'NotAllRecorded',
      message: expect.stringMatching(/^chain_heights: .*chain=X node=b/),
      runs: [{ target: 'chain=X node=a', status: 'stopped' }],
      busy: ['chain=X node=b'],
      left: 2,
    });
  });

  it('reports the remaining work if it is stopped before it started', async () => {
    const recording = recorder.record('chain_heights', { signal: AbortSignal.abort() });
    await expect(recording).rejects.toMatchObject({ runs: [], busy: [], left: 2 });
  });
});
