import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';

/** A bucket of S3 in memory: put (also `If-None-Match: *`), get, list, delete and uploads of several parts, over HTTP. */
export interface S3Server {
  readonly url: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Requests that are executed and answered with a failure. Default: none. */
  loses: ((method: string, path: string) => boolean) | undefined;
  /** Requests that are answered with a failure, by method and path. Default: none. */
  refuses: ((method: string, path: string) => { status: number; code: string } | undefined) | undefined;
  close(): Promise<void>;
}

const xml = (body: string) => `<?xml version="1.0" encoding="UTF-8"?>${body}`;
const etag = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`;

/** Starts it on a free port of the loopback. It treats every bucket as the same one. */
export async function s3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const made: Pick<S3Server, 'refuses' | 'loses'> = { refuses: undefined, loses: undefined };

  function answer(method: string, url: URL, headers: NodeJS.Dict<string | string[]>, body: Buffer) {
    const key = decodeURIComponent(url.pathname).split('/').slice(2).join('/');
    const query = url.searchParams;
    const upload = query.get('uploadId');
    const refused = made.refuses?.(method, key);
    if (refused) return { status: refused.status, body: xml(`<Error><Code>${refused.code}</Code></Error>`) };
    if (method === 'POST' && query.has('delete')) {
      for (const [, one = ''] of String(body).matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(one);
      return { status: 200, body: xml('<DeleteResult/>') };
    }
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, new Map());
      return {
        status: 200,
        body: xml(
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        ),
      };
    }
    if (method === 'PUT' && upload) {
      uploads.get(upload)?.set(Number(query.get('partNumber')), body);
      return { status: 200, etag: etag(body), body: '' };
    }
    if (method === 'POST' && upload) {
      const parts = [...(uploads.get(upload) ?? [])].sort(([one], [other]) => one - other);
      objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
      return {
        status: 200,
        body: xml(`<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`),
      };
    }
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && objects.has(key))
        return { status: 412, body: xml('<Error><Code>PreconditionFailed</Code></Error>') };
      objects.set(key, body);
      return { status: 200, etag: etag(body), body: '' };
    }
    if (method === 'GET' && query.get('list-type') === '2') {
      const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
      const keys = [...objects.keys()]
        .filter((one) => one.startsWith(query.get('prefix') ?? '') && one > after)
        .sort();
      // Pages are short, so that there are several.
      const page = keys.slice(0, 2);
      const more =
        keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
      return {
        status: 200,
        body: xml(
          `<ListBucketResult><IsTruncated>${more !== ''}</IsTruncated>${more}${page.map((one) => `<Contents><Key>${one}</Key><Size>${objects.get(one)?.length}</Size></Contents>`).join('')}</ListBucketResult>`,
        ),
      };
    }
    const found = objects.get(key);
    if (method === 'GET' && found) return { status: 200, etag: etag(found), body: found };
    return { status: 404, body: xml('<Error><Code>NoSuchKey</Code></Error>') };
  }

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const result = answer(
      request.method ?? '',
      new URL(request.url ?? '/', 'http://s3'),
      request.headers,
      body,
    );
    const key = (request.url ?? '').split('?')[0]?.split('/').slice(2).join('/') ?? '';
    if (made.loses?.(request.method ?? '', key)) {
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end(xml('<Error><Code>SlowDown</Code></Error>'));
      return;
    }
    if ('etag' in result && result.etag) response.setHeader('etag', result.etag);
    response.writeHead(
      result.status,
      typeof result.body === 'string' ? { 'content-type': 'application/xml' } : {},
    );
    response.end(result.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = z
    .object({ port: z.number() })
    .parse(server.address() satisfies AddressInfo | string | null);
  return Object.assign(made, {
    url: `http://127.0.0.1:${port}`,
    objects,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}
