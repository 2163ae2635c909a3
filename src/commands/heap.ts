import { setFlagsFromString } from 'node:v8';

/** Young objects get no more room than they begin with from now on: what it grows to is kept for good. */
export function keepYoungSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** How much a heap grows between two collections of all of it, in bytes. */
const STEP = 24 * 1024 * 1024;

/**
 * Lets the heap grow in steps of the same size from now on. Otherwise it grows to several times what is in use, more so on machines
 * with much memory, and the recorder often shares its machine with the node that it watches. Not before the modules are loaded: of
 * these nothing can be freed, and each step looks through all of them.
 */
export function growHeapSlowly(): void {
  const percent = Math.ceil((100 * STEP) / process.memoryUsage().heapUsed);
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
