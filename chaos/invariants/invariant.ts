import type { World } from '../world.ts';

export type Letter = 'A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'K' | 'L' | 'X';

/** Something that must hold after a fault, whatever it did. */
export interface Invariant {
  readonly letter: Letter;
  /** In one line. */
  readonly says: string;
  /** @returns what is wrong, one line each; nothing: it holds */
  check(world: World): Promise<string[]>;
}
