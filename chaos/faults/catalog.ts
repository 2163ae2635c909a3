import { spellingFaults } from './address-spellings.ts';
import { allowanceFaults } from './allowances.ts';
import { clockFaults } from './clock.ts';
import { databaseFaults } from './database.ts';
import { failoverFaults } from './failovers.ts';
import type { Fault } from './fault.ts';
import { hostile } from './hostile.ts';
import { invalidListFaults } from './invalid-lists.ts';
import { killNine } from './kill-nine.ts';
import { leaseFaults } from './leases.ts';
import { ledgerFaults } from './ledger.ts';
import { limitFaults } from './limits.ts';
import { memoryFaults } from './memory.ts';
import { migrationFaults } from './migrations.ts';
import { movedTransactionFaults } from './moved-transactions.ts';
import { networkFaults } from './network.ts';
import { poisonFaults } from './poisons.ts';
import { promotionFaults } from './promotion.ts';
import { recorderFaults } from './recorders.ts';
import { redisFaults } from './redis.ts';
import { releaseFaults } from './releases.ts';
import { rollingUpdateFaults } from './rolling-update.ts';
import { sessionFaults } from './sessions.ts';
import { siblingFaults } from './siblings.ts';
import { stallFaults } from './stalls.ts';
import { stopFaults } from './stops.ts';
import { tokenFaults } from './tokens.ts';
import { upstreamKindFaults } from './upstream-kinds.ts';
import { upstreamTextFaults } from './upstream-texts.ts';
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
  ...upstreamKindFaults,
  hostile,
  ...valueFaults,
  ...poisonFaults,
  ...networkFaults,
  ...stopFaults,
  ...upstreamTextFaults,
  ...releaseFaults,
  ...migrationFaults,
  ...memoryFaults,
  ...siblingFaults,
  ...stallFaults,
  ...recorderFaults,
  ...promotionFaults,
  ...failoverFaults,
  ...invalidListFaults,
  ...walkFaults,
  ...spellingFaults,
  ...sessionFaults,
  ...leaseFaults,
  ...movedTransactionFaults,
  ...rollingUpdateFaults,
];

/** Every fault that the suite injects, in the order of FAULTS.md. */
export const faultCatalog: readonly Fault[] = [...all].sort(
  (a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0),
);
