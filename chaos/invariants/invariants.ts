import { complete } from './complete.ts';
import { covered } from './coverage.ts';
import { bounded, ended, recovered, reportedFaults, reportedStalls } from './evidence-invariants.ts';
import type { Invariant, Letter } from './invariant.ts';
import { isolated } from './isolation.ts';
import { revised } from './revisions.ts';
import { secret } from './secret.ts';
import { unique } from './unique.ts';
import { accounted } from './wall-time.ts';

/** Every invariant by its letter. */
export const invariants: Readonly<Record<Letter, Invariant>> = {
  A: complete,
  B: unique,
  C: covered,
  D: revised,
  E: recovered,
  F: reportedFaults,
  G: bounded,
  H: secret,
  I: accounted,
  K: reportedStalls,
  L: isolated,
  X: ended,
};
