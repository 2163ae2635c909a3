import { LimitingUpstream } from '../servers/limiting-upstream.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { Fault } from './fault.ts';

const USUAL_HEADERS = {
  'ratelimit-limit': '8000;w=60',
  'ratelimit-remaining': '7000',
  'ratelimit-reset': '30',
};
/** Headers with nearly no allowance, and the maximum time until the next request, ms. */
const LOW_ALLOWANCES = [
  {
    what: 'remaining: 0, for 3 s',
    headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': '3' },
    maxDelayMs: 8_000,
  },
  { what: 'limit: 1;w=60', headers: { 'ratelimit-limit': '1;w=60' }, maxDelayMs: 62_000 },
];
/** Duration of the measurement of the rate: three intervals, ms. */
const RATE_MEASUREMENT_MS = 15_000;

/** 77: a header once allows nearly nothing, and the usual limit from then on. */
const transientRateLimit: Fault = {
  numbers: [77],
  title: 'a rate limit header that once allows nearly nothing',
  backends: 'each',
  invariants: ['A', 'C', 'E', 'G'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence, sandbox } = world;
    const upstream = await LimitingUpstream.open(sandbox.url);
    world.closers.add(() => upstream.close());
    upstream.headers = USUAL_HEADERS;
    const steady = await Steady.start(world, { chainData: { url: upstream.url } });
    await steady.waitUntilCovered();
    const measureRate = async () => {
      const startedAt = Date.now();
      await steady.wait(RATE_MEASUREMENT_MS);
      return upstream.countRequestsSince(startedAt);
    };
    const before = await measureRate();
    for (const { what, headers, maxDelayMs } of LOW_ALLOWANCES) {
      const changedAt = Date.now();
      upstream.headers = headers;
      await until(`${what} to be sent`, () => upstream.countRequestsSince(changedAt) > 0);
      const sentAt = Date.now();
      // Requests in flight get their response; from then on the header is the usual one.
      await steady.wait(2_000);
      upstream.headers = USUAL_HEADERS;
      const restoredAt = Date.now();
      evidence.serve(what);
      const nextCallAt = await until(
        `a call after ${what}`,
        () => upstream.requestTimes.find((at) => at > restoredAt),
        maxDelayMs + 10_000,
      );
      evidence.bound(`ms until the next call after ${what}`, nextCallAt - sentAt, maxDelayMs);
      await steady.expectRecovery(what);
      const after = await measureRate();
      evidence.figures.set(`calls in 15 s after ${what}`, `${after}, ${before} before`);
      // The intervals start at different times, and the load of the machine differs.
      evidence.claim(`it continues at its pace after ${what}`, after >= before / 3);
    }
    await steady.stop();
  },
};

export const allowanceFaults: readonly Fault[] = [transientRateLimit];
