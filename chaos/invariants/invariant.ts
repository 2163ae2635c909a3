import type { World } from '../world.ts';

export type Letter = 'A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'K' | 'L' | 'X';

/** A condition that must hold after every fault. */
export interface Invariant {
  readonly letter: Letter;
  /** In one line. */
  readonly description: string;
  /** @returns the violations, one line each; empty: it holds */
  check(world: World): Promise<string[]>;
}
