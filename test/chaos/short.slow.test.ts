import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Closers } from '../../chaos/closers.ts';
import { faultCatalog } from '../../chaos/faults/catalog.ts';
import type { Options } from '../../chaos/options.ts';
import { endAll, runFault, tell } from '../../chaos/runner.ts';
import { openStage } from '../../chaos/stage.ts';
import type { Setting } from '../../chaos/world.ts';

const options: Options = {
  seed: 7,
  faults: new Set(),
  backends: ['redis', 'postgres'],
  kills: null,
  rows: null,
  minutes: 10,
  short: true,
  planted: false,
  release: null,
};
const closers = new Closers();
let setting: Setting;

beforeAll(async () => {
  setting = await openStage(options, closers);
});
afterAll(async () => {
  await endAll();
  await closers.close();
});

const cases = faultCatalog
  .filter(({ short }) => short)
  .flatMap((fault) =>
    (fault.backends === 'each' ? options.backends : ['postgres' as const]).map(
      (backend) =>
        [
          fault.numbers.join(', '),
          fault.title,
          fault.backends === 'any' ? 'no queue' : backend,
          fault,
          backend,
        ] as const,
    ),
  );

describe('the short selection of the chaos suite', () => {
  it.for(cases)('fault %s: %s (%s)', async ([, , , fault, backend], { skip }) => {
    const reason = inject('redisSkipReason');
    if (backend === 'redis' && reason !== null) skip(reason);
    const outcome = await runFault(setting, fault, backend);
    expect(outcome.broken, tell(outcome)).toEqual([]);
  });
});
