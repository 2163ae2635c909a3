import { describe, expect, it } from 'vitest';
import { get as getFrom, NOW, stillSandbox } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, clock, get, post, rpc } = withSandbox({}, 'each');

const SEC = NOW / 1000;

function fail(check: string, from = SEC - 60, to = SEC + 3600): void {
  sandbox().nodes[0]?.timeline.addIncident({ from, to, check, error: `${check} is ill` });
}

describe('health', () => {
  it('is 200 with every check sorted by name', async () => {
    const { status, body, headers } = await get('/ext/health');
    expect([status, body.healthy, headers.get('content-type')]).toEqual([
      200,
      true,
      'application/json; charset=utf-8',
    ]);
    const names = Object.keys(body.checks);
    expect(names).toEqual([...names].sort());
    for (const name of ['C', 'P', 'X', 'bls', 'bootstrapped', 'database', 'diskspace', 'network', 'router'])
      expect(names).toContain(name);
    expect(body.checks.database).not.toHaveProperty('message');
    expect(body.checks.P).not.toHaveProperty('error');
    expect(body.checks.P.timestamp).toMatch(/^2026-03-05T10:20:00\.\d+Z$/);
    expect((await get('/nodes/validator-2/ext/health')).body.checks.P.timestamp).toMatch(
      /^2026-03-05T06:20:00\.\d+-04:00$/,
    );
  });

  it('is 503 with the same body when a check fails, and 200 over JSON-RPC', async () => {
    fail('network');
    const { status, body } = await get('/ext/health/health');
    expect([status, body.healthy]).toEqual([503, false]);
    expect(body.checks.network).toMatchObject({ error: 'network is ill', contiguousFailures: 3 });
    expect(body.checks.network.timeOfFirstFailure).toMatch(/^2026-03-05T10:19:00/);
    expect(body.checks.network.message.connectedPeers).toBeTypeOf('number');
    const reply = await rpc('/ext/health', 'health.health');
    expect([reply.status, reply.body.result]).toEqual([200, body]);
    expect((await post('/ext/health/health', {})).status).toBe(503);
    expect((await get('/nodes/validator-2/ext/health')).status).toBe(200);
  });

  it('filters chains by their subnet, and always shows the application', async () => {
    const [primary, permissioned] = sandbox().network.subnets;
    fail('P');
    const with_ = async (query: string): Promise<[number, string[]]> => {
      const { status, body } = await get(`/ext/health?${query}`);
      return [
        status,
        Object.keys(body.checks)
          .filter((name) => /^[A-Z0-9]/.test(name))
          .sort(),
      ];
    };
    expect(await with_(`tag=${primary?.subnetId}`)).toEqual([503, ['C', 'P', 'X']]);
    const own = permissioned?.chains[0]?.blockchainId ?? '';
    expect((await with_(`tag=${permissioned?.subnetId}`))[0]).toBe(200);
    expect((await get(`/ext/health?tag=${permissioned?.subnetId}`)).body.checks).toHaveProperty([own]);
    expect(await with_('tag=nothing')).toEqual([200, []]);
    expect((await with_(`tag=nothing&tag=${primary?.subnetId}`))[0]).toBe(503);
    const filtered = await rpc('/ext/health', 'health.health', { tags: ['nothing'] });
    expect(Object.keys(filtered.body.result.checks)).toContain('network');
  });

  it('has no results right after a start, and then bootstraps', async () => {
    sandbox().nodes[0]?.timeline.addRestart(SEC);
    const first = await get('/ext/health');
    expect(first.status).toBe(503);
    expect(first.body.checks.database).toEqual({
      error: 'not yet run',
      timestamp: '0001-01-01T00:00:00Z',
      duration: 0,
    });
    clock().advance(40_000);
    const second = await get('/ext/health');
    expect(
      Object.values<{ error?: string }>(second.body.checks).flatMap((check) => check.error ?? []),
    ).toEqual(['subnets not bootstrapped']);
    expect((await get('/ext/health/readiness')).status).toBe(503);
    clock().advance(40_000);
    expect((await get('/ext/health')).status).toBe(200);
  });

  it('stays ready after the first time, and is always alive', async () => {
    clock().advance(600_000);
    fail('bootstrapped', SEC, SEC + 86_400);
    const ready = await get('/ext/health/readiness');
    expect([ready.status, Object.keys(ready.body.checks)]).toEqual([200, ['bootstrapped']]);
    expect((await get('/ext/health/liveness')).body).toEqual({ checks: {}, healthy: true });
    expect((await rpc('/ext/health', 'health.liveness')).body.result).toEqual({
      checks: {},
      healthy: true,
    });
  });

  it('has unhealthy minutes if configured', async () => {
    const { sandbox: other, clock: time } = await stillSandbox({ incidents: true });
    const states = new Set<number>();
    for (let hour = 0; hour < 24 * 14; hour += 1) {
      states.add((await getFrom(other, '/ext/health')).status);
      time.advance(1_800_000);
    }
    expect(states).toEqual(new Set([200, 503]));
    await other.close();
  });
});
