import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Room for young objects, in bytes. With less most of a page's objects outlive a collection, and each copies them. */
const YOUNG = 8 * 1024 * 1024;
/** As much again spares a command that ends a tenth of its processor time. For `up`, which stays, it would be memory. */
let young = YOUNG;

/** Gives young objects twice the room, in a process that ends with its work. */
export function giveYoungRoom(): void {
  young = 2 * YOUNG;
}

/**
 * Lets the room for young objects grow to {@link YOUNG}, or twice that, and no further: V8 would let it grow to several times that, and
 * keep it. It takes room back from a process that does little, so that it has to be let grow again. Collections of young objects get no helpers: they take
 * more of the processor than they save, and the recorder shares its machine with PostgreSQL and often with a node.
 */
export function keepYoungSmall(): void {
  setFlagsFromString('--no-parallel-scavenge');
  let growing: boolean | undefined;
  const hold = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const grows = (space?.space_size ?? 0) < 2 * young; // half of it is what the next collection copies to
    if (grows !== growing) setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    growing = grows;
  };
  hold();
  new PerformanceObserver(hold).observe({ entryTypes: ['gc'] });
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
