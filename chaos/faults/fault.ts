import type { SandboxOptions } from '../../sandbox/options.ts';
import type { Letter } from '../invariants/invariant.ts';
import type { Options } from '../options.ts';
import type { World } from '../world.ts';

/** One line of FAULTS.md, or several that are injected together. */
export interface Fault {
  readonly numbers: readonly number[];
  readonly title: string;
  /** `each`: on both queue backends; `any`: no queue takes part. */
  readonly backends: 'each' | 'any' | 'redis' | 'postgres';
  readonly invariants: readonly Letter[];
  /** Whether it is in the short selection. */
  readonly short?: boolean;
  /** Returns why the fault cannot be injected here, or null if it can. */
  unavailable?(options: Options): Promise<string | null>;
  /** Setup of the sandbox of its world. */
  readonly sandbox?: SandboxOptions | ((setting: { rows: number | null }) => SandboxOptions);
  /** Injects the fault and waits until the recorder could react; the observations go into the world's evidence. */
  inject(world: World): Promise<void>;
}
