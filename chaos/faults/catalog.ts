import { spellingFaults } from './address-spellings.ts';
import { allowanceFaults } from './allowances.ts';
import { beliefFaults } from './belief.ts';
import { clockFaults } from './clock.ts';
import { databaseFaults } from './database.ts';
import { failoverFaults } from './failovers.ts';
import type { Fault } from './fault.ts';
import { hostile } from './hostile.ts';
import { killNine } from './kill-nine.ts';
import { leaseFaults } from './leases.ts';
import { ledgerFaults } from './ledger.ts';
import { limitFaults } from './limits.ts';
import { memoryFaults } from './memory.ts';
import { migratingFaults } from './migrations.ts';
import { movingFaults } from './moved-transactions.ts';
import { networkFaults } from './network.ts';
import { poisonFaults } from './poisons.ts';
import { promotionFaults } from './promotion.ts';
import { recorderFaults } from './recorders.ts';
import { redisFaults } from './redis.ts';
import { releaseFaults } from './releases.ts';
import { rollingFaults } from './rolling-update.ts';
import { sessionFaults } from './sessions.ts';
import { siblingFaults } from './siblings.ts';
import { tellingFaults } from './stalls.ts';
import { stoppingFaults } from './stops.ts';
import { tokenFaults } from './tokens.ts';
import { upstreamSpells } from './upstream-kinds.ts';
import { sayingFaults } from './upstream-texts.ts';
import { valueFaults } from './values.ts';
import { walkFaults } from './walks.ts';
import { workerFaults } from './workers.ts';

const all: readonly Fault[] = [
  killNine,
  ...workerFaults,
  ...databaseFaults,
  ...redisFaults,
  ...clockFaults,
  ...tokenFaults,
  ...ledgerFaults,
  ...limitFaults,
  ...allowanceFaults,
  ...upstreamSpells,
  hostile,
  ...valueFaults,
  ...poisonFaults,
  ...networkFaults,
  ...stoppingFaults,
  ...sayingFaults,
  ...releaseFaults,
  ...migratingFaults,
  ...memoryFaults,
  ...siblingFaults,
  ...tellingFaults,
  ...recorderFaults,
  ...promotionFaults,
  ...failoverFaults,
  ...beliefFaults,
  ...walkFaults,
  ...spellingFaults,
  ...sessionFaults,
  ...leaseFaults,
  ...movingFaults,
  ...rollingFaults,
];

/** Every fault that the suite injects, in the order of FAULTS.md. */
export const faultCatalog: readonly Fault[] = [...all].sort(
  (a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0),
);
