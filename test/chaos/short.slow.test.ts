import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Closers } from '../../chaos/closers.ts';
import { faultCatalog } from '../../chaos/faults/catalog.ts';
import type { Options } from '../../chaos/options.ts';
import { faultOf } from '../../chaos/plant-bugs.ts';
import { plantedBugs } from '../../chaos/planted-bugs.ts';
import { endAll, formatOutcome, runFault } from '../../chaos/runner.ts';
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

/** Each fault runs on one of the queues, alternately: `npm run chaos` injects it on both. */
const cases = faultCatalog
  .filter(({ short }) => short)
  .map((fault, n) => {
    const backend = fault.backends === 'each' && n % 2 === 0 ? ('redis' as const) : ('postgres' as const);
    const queue = fault.backends === 'any' ? 'no queue' : backend;
    return [fault.numbers.join(', '), fault.title, queue, fault, backend] as const;
  });

it.each(plantedBugs)('each planted bug has its fault in the catalogue: $bug', ({ fault }) => {
  expect(() => faultOf(fault)).not.toThrow();
});

describe('the short selection of the chaos suite', () => {
  it.for(cases)('passes fault %s: %s (%s)', async ([, , , fault, backend], { skip }) => {
    const reason = inject('redisSkipReason');
    if (backend === 'redis' && reason !== null) skip(reason);
    const outcome = await runFault(setting, fault, backend);
    expect(outcome.broken, formatOutcome(outcome)).toEqual([]);
  });
});
