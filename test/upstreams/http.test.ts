import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setInterval as every } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { callOnce, type HttpCall, type HttpResponse } from '../../src/upstreams/http.ts';
import { gate } from '../support/scripted-feed.ts';
import { sendJson, withServers } from '../support/upstream-server.ts';

const MEGABYTE = 1 << 20;
const { serve, serveRaw } = withServers(afterEach);

const call = (url: string, more: Partial<HttpCall> = {}, fresh?: boolean) =>
  callOnce(
    {
      method: 'GET',
      url: new URL(`${url}/path?query=secret-query`),
      headers: { 'x-key': 'secret-key' },
      deadline: 5_000,
      maxBytes: MEGABYTE,
      signal: new AbortController().signal,
      ...more,
    },
    fresh,
  );

/** Returns the failure of a call; its text must contain no secret. */
async function expectFailure(answer: Promise<HttpResponse>): Promise<UpstreamFailure> {
  const error: unknown = await answer.then(
    ({ text }) => new Error(`answered ${text.slice(0, 100)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UpstreamFailure)) throw error;
  expect(error.message).not.toMatch(/secret|127\.0\.0\.1|localhost|https?:/);
  return error;
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

describe('a response', () => {
  it('is returned completely, with its status and headers, for any status', async () => {
    const server = await serve((_, response) => {
      response.writeHead(503, { 'x-said': 'yes' }).end('{"ü":"💡"}');
    });
    expect(await call(server.url)).toMatchObject({
      status: 503,
      headers: { 'x-said': 'yes' },
      text: '{"ü":"💡"}',
    });
    expect(server.received).toMatchObject([{ method: 'GET', headers: { 'x-key': 'secret-key' } }]);
  });

  it('is decoded if it is compressed', async () => {
    const text = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => at));
    const server = await serve(({ headers }, response) => {
      expect(headers['accept-encoding']).toBe('gzip');
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    });
    expect((await call(server.url)).text).toBe(text);
  });

  it.each([
    ['Gzip', (text: string) => gzipSync(text)],
    [' GZIP ', (text: string) => gzipSync(text)],
    ['x-gzip', (text: string) => gzipSync(text)],
    ['identity', (text: string) => text],
    ['Identity', (text: string) => text],
    ['', (text: string) => text],
    ['gzip', (text: string) => Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))])],
  ])('is decoded for any case and number of its codings: %j', async (coding, encode) => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(encode('{"whole":"yes"}'));
    });
    expect((await call(server.url)).text).toBe('{"whole":"yes"}');
  });

  it.each(['br', 'deflate', 'zstd', 'Compress', 'gzip, br', 'gzip;q=1', 'x'.repeat(500)])(
    'in a coding that was not requested is refused, with the coding: %s',
    async (coding) => {
      const server = await serve((_, response) => {
        response.writeHead(200, { 'content-encoding': coding }).end('{}');
      });
      const refused = await expectFailure(call(server.url));
      expect(refused).toMatchObject({ kind: 'malformed', status: 200 });
      expect(refused.message).toContain(`encoded as ${coding.toLowerCase().slice(0, 40)}, only gzip`);
    },
  );

  it.each([
    ['with its length', { 'content-length': '0' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])(
    'that is empty and marked as compressed is empty, and its status and headers count (%s)',
    async (_, length) => {
      const server = await serve((_request, response) => {
        response.writeHead(429, { 'content-encoding': 'gzip', 'retry-after': '7', ...length }).end();
      });
      expect(await call(server.url)).toMatchObject({
        status: 429,
        headers: { 'retry-after': '7' },
        text: '',
      });
    },
  );

  it('of exactly the maximum size is accepted, and one byte more is refused', async () => {
    const server = await serve(({ url }, response) => {
      response.end('x'.repeat(Number(url.searchParams.get('bytes'))));
    });
    const bytes = (count: number) =>
      call(server.url, { url: new URL(`${server.url}/?bytes=${count}`), maxBytes: 1000 });
    expect((await bytes(1000)).text).toHaveLength(1000);
    expect(await expectFailure(bytes(1001))).toMatchObject({ kind: 'too-large' });
  });

  it('is not followed to a redirect', async () => {
    const other = await serve((_, response) => sendJson(response, {}));
    const server = await serve((_, response) =>
      response.writeHead(302, { location: `${other.url}/stolen` }).end(),
    );
    expect(await call(server.url)).toMatchObject({ status: 302 });
    expect(other.received).toEqual([]);
  });
});

describe('a truncated body', () => {
  it.each([
    ['before its length', `${head}Content-Length: 100\r\n\r\n{"a":1`, ['malformed', 'reset']],
    ['between chunks', `${head}Transfer-Encoding: chunked\r\n\r\n6\r\n{"a":1\r\n`, ['malformed', 'reset']],
    ['in a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n60\r\n{"a":1`, ['malformed', 'reset']],
  ])('%s is refused completely', async (_, bytes, kinds) => {
    for (const hangUp of [
      (socket: Socket) => socket.end(bytes),
      (socket: Socket) => socket.write(bytes, () => socket.destroy()),
    ]) {
      const server = await serveRaw(hangUp);
      const { kind, retry } = await expectFailure(call(server.url));
      expect(kinds).toContain(kind);
      expect(retry).toBe(true);
    }
  });

  it('within its compression is refused completely', async () => {
    const compressed = gzipSync(randomBytes(1000).toString('hex'));
    const truncated = compressed.subarray(0, compressed.length - 20);
    const server = await serve((_, response) => {
      response
        .writeHead(200, { 'content-encoding': 'gzip', 'content-length': truncated.length })
        .end(truncated);
    });
    expect(await expectFailure(call(server.url))).toMatchObject({ kind: 'malformed' });
  });

  it('within its compression by a connection that breaks is refused as well', async () => {
    const compressed = gzipSync(randomBytes(100_000).toString('hex'));
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': compressed.length });
      response.write(compressed.subarray(0, 50_000), () => response.destroy());
    });
    expect(['malformed', 'reset']).toContain((await expectFailure(call(server.url))).kind);
  });
});

describe('an invalid body', () => {
  it('is refused if it is not UTF-8', async () => {
    const server = await serve((_, response) => response.end(Buffer.from([0x7b, 0xff, 0xfe, 0x7d])));
    expect(await expectFailure(call(server.url))).toMatchObject({ kind: 'malformed' });
  });

  it('is refused if it does not match its compression', async () => {
    const server = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"a":1}'),
    );
    expect(await expectFailure(call(server.url))).toMatchObject({ kind: 'malformed' });
  });
});

describe('a huge body', () => {
  it('of a gigabyte is cancelled early', async () => {
    let sent = 0;
    const hungUp = gate();
    const server = await serve(async (_, response) => {
      const closed = once(response, 'close');
      closed.then(() => hungUp.open());
      const piece = Buffer.alloc(64 * 1024, 'x');
      response.writeHead(200, { 'content-type': 'application/json' });
      while (sent < 1024 * MEGABYTE && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
      }
      response.end();
    });
    expect(await expectFailure(call(server.url))).toMatchObject({ kind: 'too-large', retry: false });
    await hungUp.opened;
    expect(sent).toBeLessThan(64 * MEGABYTE);
  });

  it('after decompression is cancelled early: a bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MEGABYTE));
    expect(bomb.length).toBeLessThan(MEGABYTE);
    const server = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    expect(await expectFailure(call(server.url))).toMatchObject({ kind: 'too-large' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MEGABYTE);
  });
});

describe('the deadline', () => {
  const deadline = 250;
  const expectTimely = async (answer: Promise<HttpResponse>) => {
    const startedAt = performance.now();
    const error = await expectFailure(answer);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    return error;
  };

  it('applies while a body drips', async () => {
    const server = await serve(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for await (const _tick of every(20)) {
        if (response.destroyed) return;
        response.write(' ');
      }
    });
    expect(await expectTimely(call(server.url, { deadline }))).toMatchObject({ kind: 'timeout' });
  });

  it('applies while a compressed body drips', async () => {
    const bytes = gzipSync(randomBytes(10_000).toString('hex'));
    const server = await serve(async (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      let at = 0;
      for await (const _tick of every(20)) {
        if (response.destroyed) return;
        response.write(bytes.subarray(at, ++at));
      }
    });
    expect(await expectTimely(call(server.url, { deadline }))).toMatchObject({ kind: 'timeout' });
  });

  it('is not used for the abort of the caller', async () => {
    const stop = new AbortController();
    const server = await serve(() => stop.abort());
    expect(await expectFailure(call(server.url, { signal: stop.signal }))).toMatchObject({
      kind: 'cancelled',
    });
    expect(await expectFailure(call(server.url, { signal: AbortSignal.abort() }))).toMatchObject({
      kind: 'cancelled',
    });
  });
});

describe('a connection', () => {
  it('without TLS is reported, and is not retried at once', async () => {
    const server = await serve((_, response) => sendJson(response, {}));
    const answer = call(server.url.replace('http:', 'https:'));
    expect(await expectFailure(answer)).toMatchObject({ kind: 'tls', retry: false });
  });

  it('is reused, but not for a probe', async () => {
    const ports: (number | undefined)[] = [];
    const server = await serve((_, response) => {
      ports.push(response.socket?.remotePort);
      sendJson(response, {});
    });
    for (let calls = 0; calls < 10; calls++) await call(server.url);
    const reusedPorts = new Set(ports.splice(0));
    expect(reusedPorts.size).toBeLessThan(4);
    for (let probes = 0; probes < 3; probes++) await call(server.url, {}, true);
    expect(new Set(ports).size).toBe(3);
    expect(ports.filter((port) => reusedPorts.has(port))).toEqual([]);
  });
});
