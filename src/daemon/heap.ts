import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Size of the young generation, in bytes. In a smaller young generation, most objects of a page survive a
 * collection, and each collection copies these objects.
 */
const YOUNG_GENERATION_BYTES = 8 * 1024 * 1024;
/**
 * Limits the growth of the young generation to {@link YOUNG_GENERATION_BYTES}. Without a limit, V8 would grow
 * the young generation to several times that size. While the process is idle, V8 shrinks the young
 * generation; growth up to the limit is then enabled again. Collections of the young generation run without
 * parallel threads. Parallel threads would cost more processor time than they save, and the recorder shares
 * its machine with PostgreSQL and often with a node.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--no-parallel-scavenge');
  let growing: boolean | undefined;
  const hold = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const grows = (space?.space_size ?? 0) < 2 * YOUNG_GENERATION_BYTES; // half of this space is the copy target
    if (grows !== growing) setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    growing = grows;
  };
  hold();
  new PerformanceObserver(hold).observe({ entryTypes: ['gc'] });
}

/** Growth of the heap between two full collections, in bytes. */
const HEAP_GROWTH_BYTES = 24 * 1024 * 1024;

/**
 * Limits the growth of the heap to constant steps from now on. By default the heap grows to several times the
 * size of the live objects, and further on machines with much memory. The recorder often shares its machine
 * with the node that it watches. Call this function after the modules are loaded: the memory of modules
 * cannot be freed, and each full collection scans that memory.
 */
export function limitHeapGrowth(): void {
  const percent = Math.ceil((100 * HEAP_GROWTH_BYTES) / process.memoryUsage().heapUsed);
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
