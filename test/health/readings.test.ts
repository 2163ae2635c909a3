import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { REMAINING_CHECKS, readHealth } from '../../src/health/health-reading.ts';

const file = fileURLToPath(
  new URL('../../../shared/real-data/health-info/node-doc-health.json', import.meta.url),
);
const documents = z.object({
  examples: z.array(
    z.object({ request: z.object({ method: z.string() }), response: z.object({ result: z.unknown() }) }),
  ),
});

describe.skipIf(!existsSync(file))('documented responses', () => {
  it.each([
    ['health.health', ['C', 'P', 'X', 'bootstrapped', 'database', 'diskspace', 'network', 'router']],
    ['health.readiness', ['bootstrapped']],
    ['health.liveness', []],
  ])('of %s are up, check by check', (method, names) => {
    const { examples } = documents.parse(JSON.parse(readFileSync(file, 'utf8')));
    const example = examples.find(({ request }) => request.method === method);
    const { state, error, checks } = readHealth(example?.response.result);
    expect([state, error]).toEqual(['up', null]);
    expect(checks?.map(({ name }) => name)).toEqual(names);
    for (const check of checks ?? []) {
      expect(check).toMatchObject({ state: 'up', error: null, message: null });
      expect(check.timestamp).toMatch(/^2024-03-26T\d\d:\d\d:\d\d\.\d+-04:00$/);
    }
  });
});

/** A report of a node without peers, as nodes write it (node-rpc 2, 4.4). */
const unhealthy = (error: unknown) => ({
  checks: {
    C: { message: { engine: { vm: null } }, timestamp: '2024-03-26T19:44:45.2931-04:00', duration: 20375 },
    network: {
      message: { connectedPeers: 0, timeSinceLastMsgReceived: '2m3.5s' },
      error,
      timestamp: '2024-03-26T19:44:45.2931-04:00',
      duration: 2333,
      contiguousFailures: 3,
      timeOfFirstFailure: '2024-03-26T19:43:15.2931-04:00',
    },
  },
  healthy: false,
});

describe('an unhealthy report', () => {
  const why = 'network layer is unhealthy reason: not connected to a minimum of 1 peer(s) only 0';

  it.each([
    ['a text', why, why],
    ['an object with a message, as older nodes write it', { message: why }, why],
    ['any other object', { code: 7, reason: why }, JSON.stringify({ code: 7, reason: why })],
  ])('has the error %s', (_, error, expectedError) => {
    const { state, error: nodeError, checks } = readHealth(unhealthy(error));
    expect([state, nodeError]).toEqual(['down', 'failing: network']);
    expect(checks).toMatchObject([
      { name: 'C', state: 'up', error: null },
      {
        name: 'network',
        state: 'down',
        error: expectedError,
        message: expect.stringContaining('"connectedPeers":0'),
      },
    ]);
  });

  it('with status 200 is unhealthy all the same', () => {
    expect(readHealth({ checks: {}, healthy: false })).toMatchObject({
      state: 'down',
      error: 'failing: no check named',
    });
  });

  it('whose checks have not run yet, in the year 1, is ignored', () => {
    const waiting = { error: 'not yet run', timestamp: '0001-01-01T00:00:00Z', duration: 0 };
    expect(readHealth({ checks: { C: waiting, P: waiting }, healthy: false })).toMatchObject({
      state: 'unknown',
      error: 'not yet run: C, P',
      checks: [{ state: 'unknown' }, { state: 'unknown' }],
    });
    expect(
      readHealth({
        checks: { C: waiting, P: { error: 'ill', timestamp: '2026-01-01T00:00:00Z' } },
        healthy: false,
      }),
    ).toMatchObject({
      state: 'down',
      error: 'failing: P',
    });
  });
});

it('keeps the first 1,000 names of a report, and the others as one check with the worst state', () => {
  const names = Array.from({ length: 1_003 }, (_, at) => `check-${String(at).padStart(4, '0')}`);
  const checks = Object.fromEntries(
    names.toReversed().map((name) => [name, name === 'check-1001' ? { error: 'ill' } : {}]),
  );
  const readings = readHealth({ checks, healthy: false }).checks ?? [];
  expect(readings.map(({ name }) => name)).toEqual([...names.slice(0, 1_000), REMAINING_CHECKS]);
  expect(readings.filter(({ state }) => state !== 'up')).toMatchObject([
    { name: REMAINING_CHECKS, state: 'down', error: 'ill' },
  ]);
});

describe('an invalid report', () => {
  it.each([
    [{ failure: 'the connection was refused (ECONNREFUSED)', state: 'down' }, 'down'],
    [{ failure: 'the name lookup failed (ENOTFOUND)', state: 'unknown' }, 'unknown'],
  ])('is %j', (body, state) => {
    expect(readHealth(body)).toEqual({ state, error: body.failure, checks: null });
  });
});
