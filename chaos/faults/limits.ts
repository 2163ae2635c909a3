import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import { EchoingUpstream } from '../servers/echoing-upstream.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import { CANARY, type World } from '../world.ts';
import type { Fault } from './fault.ts';

const sandbox = { blocksPerHour: 30 };
const OPERATION = 'listPrimaryNetworkBlocksByNodeId';

/** End of the pause that the recorders agreed on; ms. */
async function blockedUntil({ sql }: World): Promise<number> {
  const [row] = await sql<{ until: Date | null }[]>`
    select max(blocked_until) as until from recorder.budgets where upstream = 'chainData'`;
  return row?.until?.getTime() ?? 0;
}

const retryAfter: Fault = {
  numbers: [27],
  title: '429 with Retry-After in seconds, as a date, in the past, 1e9, garbage',
  backends: 'each',
  invariants: ['A', 'C', 'E', 'G'],
  sandbox,
  async inject(world) {
    const {
      evidence,
      sandbox: { faults, ledger },
    } = world;
    const steady = await Steady.start(world);
    await steady.waitUntilCovered();
    for (const kind of ['429-seconds', '429-date', '429-past', '429-garbage'] as const) {
      await serveOnce(world, kind);
      const servedAt = Date.now();
      const resumedAt = await until(
        'the upstream to be called again',
        () => ledger.calls({ operation: OPERATION }).find((call) => call.at > servedAt + 50)?.at,
      );
      const pauseMs = resumedAt - servedAt;
      // Other calls may have been in flight; the agreed pause applies from then on.
      evidence.figures.set(`called again after ${kind}`, `${pauseMs} ms`);
      evidence.bound(`ms without calls after ${kind}`, pauseMs, 15_000);
    }
    await steady.expectRecovery('short refusals');
    await serveOnce(world, '429-huge');
    const pauseEnd = await until('the block to be agreed on', async () => {
      const time = await blockedUntil(world);
      return time > Date.now() + 60_000 ? time : null;
    });
    evidence.bound('ms without calls after Retry-After: 1000000000', pauseEnd - Date.now(), 3_600_000);
    const before = ledger.count(OPERATION);
    await steady.wait(12_000);
    evidence.bound('calls during the pause of the upstream', ledger.count(OPERATION) - before, 2);
    faults.clear();
    await steady.stop();
  },
};

async function serveOnce({ sandbox: { faults, ledger } }: World, kind: FaultKind): Promise<void> {
  const before = ledger.faults()[kind] ?? 0;
  faults.next({ operation: OPERATION }, kind);
  await until(`${kind} to be served`, () => (ledger.faults()[kind] ?? 0) > before);
}

const rateLimitWithoutRetryAfter: Fault = {
  numbers: [28],
  title: '429 for a minute without Retry-After',
  backends: 'each',
  invariants: ['A', 'C', 'E', 'F', 'G'],
  sandbox,
  async inject(world) {
    const {
      sandbox: { faults, ledger },
      evidence,
    } = world;
    const steady = await Steady.start(world);
    await steady.waitUntilRecorded();
    const before = ledger.count(OPERATION);
    const startedAt = performance.now();
    faults.rate({ '429': 1 });
    await steady.expectFaultReported('429 for a minute');
    await steady.wait(Math.max(0, 60_000 - (performance.now() - startedAt)));
    const seconds = (performance.now() - startedAt) / 1000;
    evidence.bound('calls a second while refused', (ledger.count(OPERATION) - before) / seconds, 6);
    faults.clear();
    await steady.expectRecovery('429 for a minute');
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

const rejectedKey: Fault = {
  numbers: [30],
  title: '401 and 403 in the middle; the upstream echoes the key',
  backends: 'each',
  invariants: ['A', 'C', 'E', 'F', 'G', 'H'],
  sandbox,
  async inject(world) {
    const { evidence } = world;
    const echo = await EchoingUpstream.open(world.sandbox.url);
    world.closers.add(() => echo.close());
    const steady = await Steady.start(world, { chainData: { url: echo.url } });
    await steady.waitUntilRecorded();
    const before = echo.calls;
    const startedAt = performance.now();
    echo.status = 401;
    await steady.expectFaultReported('401');
    echo.status = 403;
    await steady.wait(6_000);
    echo.status = 500;
    await steady.wait(3_000);
    const seconds = (performance.now() - startedAt) / 1000;
    evidence.serve('key echoed', echo.echoed);
    // Six targets, each of which checks the budget once an interval.
    evidence.bound('calls a second while locked out', (echo.calls - before) / seconds, 4);
    for (const args of [['status'], ['status', '--json'], ['coverage'], ['quarantine'], ['doctor']])
      await world.recorder(args).ended;
    const address = steady.running[0]?.address;
    for (const path of ['/health', '/ready', '/api/status'])
      evidence.texts.push({ where: path, text: await (await fetch(`${address}${path}`)).text() });
    echo.status = null;
    await steady.expectRecovery('the key was accepted again');
    await steady.waitUntilCovered();
    evidence.claim('the canary was sent to the configured upstream', echo.keys.has(CANARY));
    await steady.stop();
  },
};

export const limitFaults: readonly Fault[] = [retryAfter, rateLimitWithoutRetryAfter, rejectedKey];
