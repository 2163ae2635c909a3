import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { percentile } from '../evidence.ts';
import type { Fault } from './fault.ts';

const MAIN = join(import.meta.dirname, '../../bench/memory/main.ts');
/** Runs and probes, unless `--rows` is given: 100,000 of them take many minutes. */
const COUNT = 5_000;
/** Maximum growth of the heap from the first to the second half, MB. */
const MAX_HEAP_GROWTH_MB = 1;

/** 78: a process records and probes repeatedly; its memory after each tenth is measured. */
const flatHeap: Fault = {
  numbers: [78],
  title: 'many probes and runs in one process: the heap stays flat',
  backends: 'any',
  invariants: ['G'],
  async inject({ setting, databaseUrl, evidence, closers }) {
    const count = setting.options.rows ?? COUNT;
    const stopping = new AbortController();
    closers.add(() => stopping.abort());
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', '--import', 'tsx', MAIN, String(count), databaseUrl],
      { signal: stopping.signal },
    ).catch((error: unknown) => {
      // It exits 1 if its own, wider limit is exceeded: its measurements are judged here.
      if (error instanceof Error && 'code' in error && error.code === 1 && 'stdout' in error)
        return { stdout: String(error.stdout) };
      throw error;
    });
    const heaps = [...stdout.matchAll(/heap ([\d.]+) MB/g)].map(([, megabytes]) => Number(megabytes));
    evidence.claim(`the heap was measured after each tenth: ${heaps.join(', ')} MB`, heaps.length === 11);
    evidence.serve('run and probe', Math.round(count * 1.1));
    // The first tenth warms up.
    const [first, second] = [percentile(heaps.slice(1, 6), 0.5), percentile(heaps.slice(6), 0.5)];
    evidence.figures.set('heap by tenths', `${heaps.join(', ')} MB`);
    evidence.bound(`MB of heap that ${count / 2} runs and probes leave`, second - first, MAX_HEAP_GROWTH_MB);
  },
};

export const memoryFaults: readonly Fault[] = [flatHeap];
