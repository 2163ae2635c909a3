import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { type ExportInput, exportTables } from '../../src/warehouse/export.ts';
import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest, type Manifest, manifestPaths } from '../../src/warehouse/manifest.ts';
import { openTarget } from '../../src/warehouse/open-target.ts';
import { S3Target } from '../../src/warehouse/s3-target.ts';
import { withDatabase } from '../support/fixture.ts';
import { type S3Server, s3Server } from '../support/s3-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rawServer } from '../support/upstream-server.ts';
import { type Duck, openDuck, rowsInDuck, rowsInPostgres, versionsOf } from './lake.ts';
import { writeRows } from './synthetic.ts';

const { it, database, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC' } });
let duck: Duck;
let server: S3Server;
const folder = temporaryFolder('export-s3');

beforeAll(async () => {
  duck = await openDuck();
  server = await s3Server();
  for (const table of tables()) await writeRows(sql, table, 1, 40);
});
afterAll(async () => {
  duck?.close();
  await server?.close();
});

const tables = (): ExportTable[] =>
  warehouseTables.filter(({ name }) =>
    ['metric_points', 'validators', 'erc1155_transfers', 'node_health'].includes(name),
  );

const access = () => ({
  endpoint: server.url,
  region: 'us-east-1',
  keys: { id: 'AKIDEXAMPLE00', secret: 'wJalrXUtnFEMI-secret', session: undefined },
});

const open = (to: string, where: ReturnType<typeof access>) => openTarget(to, { ...where, problems: [] });

/** A server for manual tests: an endpoint, and keys that may create buckets. */
const { TEST_S3_ENDPOINT, TEST_S3_KEY_ID, TEST_S3_SECRET, TEST_S3_BUCKET } = process.env;
if (!TEST_S3_ENDPOINT) console.warn('skipped: exports to a real S3 server (TEST_S3_ENDPOINT names none)');

async function exportAll(to: string, where: ReturnType<typeof access>, more: Partial<ExportInput> = {}) {
  const target = await open(to, where);
  try {
    return await exportTables({
      databaseUrl: database.url,
      target,
      tables: tables(),
      format: 'parquet',
      incremental: true,
      signal: new AbortController().signal,
      ...more,
    });
  } finally {
    await target.close();
  }
}

/** A bucket whose exporter is killed directly before the manifest is written. */
class KilledTarget extends S3Target {
  override async create(path: string, text: string): Promise<boolean> {
    if (path.startsWith('manifests/')) throw new Error('killed');
    return super.create(path, text);
  }

  override async remove(): Promise<void> {
    throw new Error('killed');
  }
}

/**
 * Expects that the next export to a prefix removes the files of a killed one.
 * @param paths returns the paths below the prefix
 */
async function expectNoFilesOfKilled(
  target: KilledTarget,
  where: ReturnType<typeof access>,
  paths: () => Promise<readonly string[]>,
): Promise<void> {
  const isPart = (path: string) => path.endsWith('.parquet');
  await expect(exportAll(target.name, where, { target, incremental: false })).rejects.toThrow('killed');
  await target.close();
  const left = (await paths()).filter(isPart);
  const { manifest } = await exportAll(target.name, where);
  const named = [...new Set(manifestPaths(manifest))].sort();
  expect(left.filter((path) => !named.includes(path))).not.toEqual([]);
  expect((await paths()).filter((path) => isPart(path) || path.startsWith('unfinished/')).sort()).toEqual(
    named,
  );
}

/** The files that the manifest names, as files of this machine. */
async function fetchFiles(
  name: string,
  manifest: Manifest,
  read: (path: string) => Promise<Uint8Array>,
): Promise<string> {
  const place = join(folder, name);
  for (const { path } of Object.values(manifest.tables).flatMap(({ files }) => files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), await read(path));
  }
  return place;
}

async function expectEqual(place: string): Promise<void> {
  for (const table of tables())
    expect(await rowsInDuck(duck, versionsOf(place, table), table), table.name).toEqual(
      await rowsInPostgres(sql, table),
    );
}

const fromServer = (prefix: string) => async (path: string) => {
  const found = server.objects.get(`${prefix}/${path}`);
  if (!found) throw new Error(`${path} is not there`);
  return found;
};

describe('a bucket', () => {
  it('stores successive exports, which together equal the record', async () => {
    await exportAll('s3://bucket/lake', access());
    await writeRows(sql, tables()[0] ?? fail(), 101, 10);
    await sql`update recorder.validators set valid_to = valid_from + interval '2 hours', ended_by = 'gone' where valid_to is null`;
    const { manifest } = await exportAll('s3://bucket/lake', access());
    expect(manifest.export).toBe(2);
    await expectEqual(await fetchFiles('lake', manifest, fromServer('lake')));
  });

  it('stores large files in parts', async () => {
    const file = join(folder, 'large');
    const content = Buffer.alloc(20 << 20, 'chain');
    writeFileSync(file, content);
    const target = new S3Target('bucket', 'large', access());
    await target.take(file, 'a/b=c/part');
    await target.close();
    expect(server.objects.get('large/a/b=c/part')?.equals(content)).toBe(true);
  });

  describe('whose server', () => {
    const targetAt = (url: string, silence: number) =>
      new S3Target('bucket', 'slow', { ...access(), endpoint: url }, silence);

    it('stalls within a file is given up', async () => {
      const stalled = await rawServer((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe begin'),
      );
      const target = targetAt(stalled.url, 300);
      await expect(target.fetch('file', folder)).rejects.toThrow(/TimeoutError/);
      await expect(target.read('file')).rejects.toThrow(/TimeoutError/);
      await target.close();
      await stalled.close();
    });

    it('does not respond is retried, and then given up', async () => {
      let connections = 0;
      const silent = await rawServer(() => {
        connections += 1;
      });
      const target = targetAt(silent.url, 300);
      await expect(target.read('file')).rejects.toThrow(/TimeoutError/);
      expect(connections).toBeGreaterThan(1);
      await target.close();
      await silent.close();
    });

    it('is slow receives the complete file', async () => {
      let received = 0;
      const slow = createServer(async (request, response) => {
        for await (const chunk of request) received += chunk.length;
        // In total longer than the longest allowed silence.
        for (let time = 0; time < 15; time++) {
          response.writeProcessing();
          await delay(100);
        }
        response.end();
      }).listen(0, '127.0.0.1');
      await once(slow, 'listening');
      const { port } = z.object({ port: z.number() }).parse(slow.address());
      const file = join(folder, 'slow');
      writeFileSync(file, Buffer.alloc(7 << 20, 'chain'));
      const target = targetAt(`http://127.0.0.1:${port}`, 1_000);
      await target.take(file, 'file');
      expect(received).toBe(7 << 20);
      await target.close();
      slow.close();
    });
  });

  it('gives a name to one of two writers', async () => {
    const results = await Promise.allSettled([
      exportAll('s3://bucket/two', access()),
      exportAll('s3://bucket/two', access()),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((one) => one.status === 'rejected')?.reason).toMatchObject({
      name: 'ExportLostError',
    });
  });

  it('keeps the previous manifest if its server fails before the new one, and the next export is complete', async () => {
    const before = (await exportAll('s3://bucket/failing', access())).manifest;
    await writeRows(sql, tables()[0] ?? fail(), 201, 10);
    server.refuses = (method, path) =>
      method === 'PUT' && path.includes('/manifests/') ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(exportAll('s3://bucket/failing', access())).rejects.toThrow(
      /AccessDenied.*get, put, list and delete/,
    );
    server.refuses = undefined;
    const target = await open('s3://bucket/failing', access());
    expect(await currentManifest(target)).toEqual(before);
    await target.close();
    const { manifest } = await exportAll('s3://bucket/failing', access());
    await expectEqual(await fetchFiles('failing', manifest, fromServer('failing')));
  });

  it('loses the files of a killed export with the next one', async () => {
    await exportAll('s3://bucket/killed', access());
    await expectNoFilesOfKilled(new KilledTarget('bucket', 'killed', access()), access(), async () =>
      [...server.objects.keys()].flatMap((key) =>
        key.startsWith('killed/') ? key.slice('killed/'.length) : [],
      ),
    );
  });

  it('counts an export if only the response to its manifest was lost', async () => {
    let lost = 0;
    server.loses = (method, path) => {
      if (method !== 'PUT' || !path.endsWith('manifests/00000001.json') || lost > 0) return false;
      lost += 1;
      return true;
    };
    const { manifest } = await exportAll('s3://bucket/lost', access());
    server.loses = undefined;
    expect(manifest.export).toBe(1);
    expect(lost).toBe(1);
  });

  it('has errors without the keys', async () => {
    server.refuses = () => ({ status: 403, code: 'SignatureDoesNotMatch' });
    const failed = await exportAll('s3://bucket/refused', access()).catch((error: unknown) => String(error));
    server.refuses = undefined;
    expect(failed).toContain('s3://bucket/refused: SignatureDoesNotMatch');
    expect(failed).toContain('AWS_ACCESS_KEY_ID');
    expect(failed).not.toContain('wJalr');
  });

  it('has a name that S3 accepts', async () => {
    await expect(open('s3://Bucket_of_mine/x', access())).rejects.toThrow(/--to s3:\/\/Bucket_of_mine/);
    await expect(open('gs://bucket/x', access())).rejects.toThrow(/must be a folder, or a bucket/);
  });
});

it.skipIf(!TEST_S3_ENDPOINT)('accepts exports on a real server, and counts one of two', async () => {
  const where = {
    endpoint: TEST_S3_ENDPOINT ?? '',
    region: 'us-east-1',
    keys: { id: TEST_S3_KEY_ID ?? '', secret: TEST_S3_SECRET ?? '', session: undefined },
  };
  const bucket = TEST_S3_BUCKET ?? 'chain-recorder-test';
  const client = new S3Client({
    endpoint: where.endpoint,
    region: where.region,
    forcePathStyle: true,
    credentials: { accessKeyId: where.keys.id, secretAccessKey: where.keys.secret },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(() => {});
  const prefix = `try-${Date.now()}`;
  const to = `s3://${bucket}/${prefix}`;
  await exportAll(to, where);
  await writeRows(sql, tables()[0] ?? fail(), 301, 10);
  const results = await Promise.allSettled([exportAll(to, where), exportAll(to, where)]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const { manifest } = await exportAll(to, where);
  expect(manifest.export).toBe(3);
  const read = async (path: string) => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `${prefix}/${path}` }));
    if (!Body) throw new Error(`${path} is empty`);
    return Body.transformToByteArray();
  };
  await expectEqual(await fetchFiles(prefix, manifest, read));
  // A complete export replaces the previous files, which the next one removes.
  await exportAll(to, where, { incremental: false });
  await exportAll(to, where);
  await expectNoFilesOfKilled(new KilledTarget(bucket, prefix, where), where, async () => {
    const { Contents } = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}/` }),
    );
    return (Contents ?? []).flatMap(({ Key }) => Key?.slice(prefix.length + 1) ?? []);
  });
  client.destroy();
});

function fail(): never {
  throw new Error('there is no such table');
}
