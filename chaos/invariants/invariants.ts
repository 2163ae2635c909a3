import { accounted } from './accounted.ts';
import { complete } from './complete.ts';
import { covered } from './covered.ts';
import type { Invariant, Letter } from './invariant.ts';
import { isolated } from './isolated.ts';
import { bounded, ended, recovered, shown, told } from './observed.ts';
import { revised } from './revised.ts';
import { secret } from './secret.ts';
import { unique } from './unique.ts';

/** Every invariant by its letter. */
export const invariants: Readonly<Record<Letter, Invariant>> = {
  A: complete,
  B: unique,
  C: covered,
  D: revised,
  E: recovered,
  F: shown,
  G: bounded,
  H: secret,
  I: accounted,
  K: told,
  L: isolated,
  X: ended,
};
