import { LimitingUpstream } from '../servers/limiting-upstream.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { Fault } from './fault.ts';

const ORDINARY = { 'ratelimit-limit': '8000;w=60', 'ratelimit-remaining': '7000', 'ratelimit-reset': '30' };
/** Headers with nearly no allowance, and the maximum time until the next request, ms. */
const NEXT_TO_NOTHING = [
  {
    what: 'remaining: 0, for 3 s',
    says: { 'ratelimit-remaining': '0', 'ratelimit-reset': '3' },
    most: 8_000,
  },
  { what: 'limit: 1;w=60', says: { 'ratelimit-limit': '1;w=60' }, most: 62_000 },
];
/** Duration of the measurement of the rate: three intervals, ms. */
const MEASURED = 15_000;

/** 77: a header once allows nearly nothing, and the usual limit from then on. */
const saidOnce: Fault = {
  numbers: [77],
  title: 'a rate limit header that once allows nearly nothing',
  backends: 'each',
  invariants: ['A', 'C', 'E', 'G'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence, sandbox } = world;
    const upstream = await LimitingUpstream.open(sandbox.url);
    world.closers.add(() => upstream.close());
    upstream.says = ORDINARY;
    const steady = await Steady.start(world, { chainData: { url: upstream.url } });
    await steady.whole();
    const pace = async () => {
      const begun = Date.now();
      await steady.pass(MEASURED);
      return upstream.askedSince(begun);
    };
    const before = await pace();
    for (const { what, says, most } of NEXT_TO_NOTHING) {
      const asked = Date.now();
      upstream.says = says;
      await until(`${what} to be sent`, () => upstream.askedSince(asked) > 0);
      const said = Date.now();
      // Requests in flight get their response; from then on the header is the usual one.
      await steady.pass(2_000);
      upstream.says = ORDINARY;
      const ordinary = Date.now();
      evidence.serve(what);
      const again = await until(
        `a call after ${what}`,
        () => upstream.asked.find((at) => at > ordinary),
        most + 10_000,
      );
      evidence.bound(`ms until the next call after ${what}`, again - said, most);
      await steady.recovers(what);
      const after = await pace();
      evidence.figures.set(`calls in 15 s after ${what}`, `${after}, ${before} before`);
      // The intervals start at different times, and the load of the machine differs.
      evidence.claim(`it continues at its pace after ${what}`, after >= before / 3);
    }
    await steady.stop();
  },
};

export const allowanceFaults: readonly Fault[] = [saidOnce];
