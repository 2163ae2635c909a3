import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOfError } from '../../src/upstreams/classify-failure.ts';
import { type FailureKind, failureTable } from '../../src/upstreams/failure.ts';
import type { UpstreamServer } from '../support/upstream-server.ts';
import { cases, examine, mapCases, probe, runFailure, startCaseServer } from './answer-table.ts';
import { closeFailingUpstreams, failingUpstreams } from './failing-upstreams.ts';

let server: UpstreamServer;
beforeAll(async () => {
  server = await startCaseServer();
});
afterAll(async () => {
  await server.close();
  await closeFailingUpstreams();
});

describe('the table of responses', () => {
  it(`of ${cases.length} combinations holds for probes, in state and message`, async () => {
    const readings = await mapCases((at) => probe(`${server.url}/${at}`));
    const mismatches = readings.flatMap((reading, at) => {
      const { state, status, name } = cases[at] ?? {};
      const isNamed = reading.checks !== null || String(reading.error).includes(`HTTP ${status}`);
      return reading.state === state && isNamed ? [] : [{ name, state, reading }];
    });
    expect(mismatches).toEqual([]);
  });
});

describe('a call without a usable response', () => {
  // Most of the time is the pause between two attempts: the cases wait concurrently.
  it.concurrent.each(failingUpstreams)(
    'by $name is $state for probes, runs and doctor',
    async ({ state, message, doctor = /^http/, deadline = 20_000, url }) => {
      const at = await url();
      const [reading, failure, examination] = await Promise.all([
        probe(at, deadline),
        runFailure(at, deadline),
        examine(at, deadline),
      ]);
      expect(reading).toMatchObject({ state, error: expect.stringMatching(message) });
      expect(failure?.message).toMatch(message);
      expect(failure && failureTable[failure.kind].probe).toBe(state);
      expect(examination).toMatch(doctor);
    },
  );

  const KINDS: Readonly<Record<string, FailureKind>> = {
    ...{ ECONNREFUSED: 'refused', ECONNRESET: 'reset', EPIPE: 'reset', ECONNABORTED: 'reset' },
    ...{ ETIMEDOUT: 'timeout', UND_ERR_CONNECT_TIMEOUT: 'timeout', EHOSTUNREACH: 'unreachable' },
    ...{ EHOSTDOWN: 'unreachable', ENETUNREACH: 'local', ENETDOWN: 'local', EADDRNOTAVAIL: 'local' },
    ...{ EMFILE: 'local', EACCES: 'local', EPERM: 'local', ENOBUFS: 'local', UND_ERR_SOMETHING_NEW: 'local' },
    ...{ ENOTFOUND: 'dns', EAI_AGAIN: 'dns', EAI_FAIL: 'dns', EAI_NODATA: 'dns', ESERVFAIL: 'dns' },
    ...{ CERT_HAS_EXPIRED: 'tls', CERT_NOT_YET_VALID: 'tls', CERT_REVOKED: 'tls', CRL_HAS_EXPIRED: 'tls' },
    ...{ ERR_TLS_CERT_ALTNAME_INVALID: 'tls', HOSTNAME_MISMATCH: 'tls', INVALID_CA: 'tls', EPROTO: 'tls' },
    ...{ UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls', ERR_SSL_WRONG_VERSION_NUMBER: 'tls', OUT_OF_MEM: 'tls' },
    ...{ HPE_INVALID_CONSTANT: 'malformed', Z_DATA_ERROR: 'malformed' },
  };
  it.each(Object.entries(KINDS))(
    'with the code %s is of the kind %s, and has the code in its message',
    (code, kind) => {
      const cause = Object.assign(new Error('http://secret/'), { code });
      const failure = failureOfError(new TypeError('fetch failed', { cause }));
      expect(failure).toMatchObject({ kind, code, message: expect.stringContaining(`(${code})`) });
      expect(failure.message).not.toContain('secret');
    },
  );

  // A name with an IPv6 and an IPv4 address, and a machine without IPv6: the order of the addresses must not matter.
  it.each([
    [['ENETUNREACH', 'ECONNREFUSED'], 'refused'],
    [['EHOSTUNREACH', 'ECONNREFUSED'], 'refused'],
    [['ETIMEDOUT', 'ECONNREFUSED'], 'refused'],
    [['EADDRNOTAVAIL', 'ETIMEDOUT'], 'timeout'],
    [['ENETUNREACH', 'EHOSTUNREACH'], 'unreachable'],
    [['ENETUNREACH', 'EADDRNOTAVAIL'], 'local'],
  ] as const)('of several addresses with the codes %j is of the kind %s, in any order', (codes, kind) => {
    for (const order of [codes, codes.toReversed()]) {
      const errors = order.map((code) => Object.assign(new Error('no'), { code }));
      const cause = Object.assign(new AggregateError(errors), { code: order[0] });
      expect(failureOfError(new TypeError('fetch failed', { cause }))).toMatchObject({ kind });
      expect(failureOfError(cause)).toMatchObject({ kind });
    }
  });
});
