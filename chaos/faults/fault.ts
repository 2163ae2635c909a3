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
  /** Part of the short selection. */
  readonly short?: boolean;
  /** Returns why the fault cannot be injected here, or null if it can. */
  unavailable?(options: Options): Promise<string | null>;
  /** How the sandbox of its world is set up. */
  readonly sandbox?: SandboxOptions | ((setting: { rows: number | null }) => SandboxOptions);
  /** Makes things go wrong and waits until the recorder had its chance; what it saw goes into the world's evidence. */
  inject(world: World): Promise<void>;
}
