import { databaseFaults } from './database.ts';
import type { Fault } from './fault.ts';
import { killNine } from './kill-nine.ts';
import { redisFaults } from './redis.ts';
import { stoppingFaults } from './stopping.ts';
import { upstreamSpells } from './upstream-kinds.ts';
import { workerFaults } from './workers.ts';

const all: readonly Fault[] = [
  killNine,
  ...workerFaults,
  ...databaseFaults,
  ...redisFaults,
  ...upstreamSpells,
  ...stoppingFaults,
];

/** Every fault that the suite injects, in the order of FAULTS.md. */
export const faultCatalog: readonly Fault[] = [...all].sort(
  (a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0),
);
