import { availableParallelism } from 'node:os';
import { UsageError } from '../src/errors.ts';
import { Closers } from './closers.ts';
import { faultCatalog } from './faults/catalog.ts';
import type { Fault } from './faults/fault.ts';
import { type BackendKind, type Options, readOptions } from './options.ts';
import { plantAll } from './planting.ts';
import { endAll, type Outcome, runFault, tell } from './runner.ts';
import { openStage } from './stage.ts';

/**
 * Injects the faults of the catalogue into real processes, one after the other, and looks at what must hold. Exits 0
 * when everything held, 1 when something did not, 2 for a wrong command line, 130 when it was stopped.
 */
const closers = new Closers();
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stopped) return;
    stopped = true;
    void endAll()
      .then(() => closers.close())
      .then(() => process.exit(130));
  });

try {
  const options = readOptions(process.argv.slice(2));
  const say = (text: string) => process.stdout.write(`${text}\n`);
  say(`seed ${options.seed}, Node.js ${process.version}, ${availableParallelism()} cores`);
  if (options.planted) {
    process.exitCode = await plantAll(options, closers, say);
  } else {
    process.exitCode = await injectAll(options, say);
  }
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  if (!stopped) await closers.close();
}

async function injectAll(options: Options, say: (text: string) => void): Promise<number> {
  const setting = await openStage(options, closers);
  const outcomes: Outcome[] = [];
  const last = performance.now() + options.minutes * 60_000;
  for (const fault of chosen(options)) {
    for (const backend of backendsOf(fault, options)) {
      if (performance.now() > last || stopped) {
        say(`skipped ${fault.numbers.join(', ')} ${fault.title}: no time left`);
        continue;
      }
      const outcome = await runFault(setting, fault, backend);
      outcomes.push(outcome);
      say(tell(outcome));
    }
  }
  const red = outcomes.filter(({ broken }) => broken.length > 0);
  say(`\n${outcomes.length - red.length} green, ${red.length} red; seed ${options.seed}`);
  return red.length === 0 ? 0 : 1;
}

function chosen({ faults, short }: Options): readonly Fault[] {
  return faultCatalog.filter(
    (fault) =>
      (faults.size === 0 || fault.numbers.some((number) => faults.has(number))) &&
      (!short || fault.short === true),
  );
}

function backendsOf({ backends }: Fault, options: Options): readonly BackendKind[] {
  if (backends === 'each') return options.backends;
  if (backends === 'any') return options.backends.slice(0, 1);
  return options.backends.filter((backend) => backend === backends);
}
