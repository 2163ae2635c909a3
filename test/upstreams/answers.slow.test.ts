import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureTable } from '../../src/upstreams/failure.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';
import {
  BODIES,
  cases,
  examine,
  isOfFailingNode,
  mapCases,
  runFailure,
  startCaseServer,
} from './answer-table.ts';

let server: UpstreamServer;
beforeAll(async () => {
  server = await startCaseServer();
});
afterAll(() => server.close());

describe('the table of responses', () => {
  it('holds for runs: the same status in the message, and a kind with the state of the table', async () => {
    const failures = await mapCases((at) => runFailure(`${server.url}/${at}`));
    const mismatches = failures.flatMap((failure, at) => {
      const { status = 0, name } = cases[at] ?? {};
      // A run needs no health report: a report is as invalid for it as any other body.
      const state = isOfFailingNode(status) ? 'down' : 'unknown';
      const isAlike =
        failure !== null &&
        failureTable[failure.kind].probe === state &&
        (status < 300 || failure.message.includes(`HTTP ${status}`));
      return isAlike ? [] : [{ name, failure }];
    });
    expect(mismatches).toEqual([]);
  });

  it('holds for doctor if only the health API responds so: it reports what probes record', async () => {
    const mixed = await upstreamServer(({ url, body }, response) => {
      const one = cases[Number(url.pathname.split('/')[1])];
      if (!one) return response.destroy();
      if (!url.pathname.endsWith('/ext/info'))
        return response.writeHead(one.status, one.headers).end(one.body);
      const { id, method } = JSON.parse(body);
      const result = method === 'info.getNetworkID' ? { networkID: '1' } : { isBootstrapped: true };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const texts = await mapCases((at) => examine(`${mixed.url}/${at}`));
    await mixed.close();
    const mismatches = texts.flatMap((text, at) => {
      const { name, state, body } = cases[at] ?? {};
      const isReport = state === 'up' || (state === 'down' && body === BODIES['an unhealthy report']);
      const recorded = /probes record the node as (\w+)/.exec(text)?.[1] ?? 'none';
      return recorded === state || (isReport && recorded === 'none') ? [] : [{ name, state, text }];
    });
    expect(mismatches).toEqual([]);
  });
});
