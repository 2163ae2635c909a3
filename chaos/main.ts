import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../src/lib/errors.ts';
import { Closers } from './closers.ts';
import { faultCatalog } from './faults/catalog.ts';
import type { Fault } from './faults/fault.ts';
import { type BackendKind, HELP, type Options, readOptions } from './options.ts';
import { plantAll } from './plant-bugs.ts';
import { endAll, formatOutcome, type Outcome, runFault } from './runner.ts';
import { openStage } from './stage.ts';

/**
 * Injects the faults of the catalogue into real processes, one after the other, and checks the invariants. Exits 0 if
 * all hold, 1 if one is violated, 2 for an invalid command line, 130 if it was stopped: no started process is left
 * then.
 */
const closers = new Closers();
/** Time for active work to end after a stop, ms. Whatever it starts meanwhile is ended at once. */
const END_TIMEOUT_MS = 15_000;
let stopped = false;
const printLine = (text: string) => process.stdout.write(`${text}\n`);

const work = run(process.argv.slice(2));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
process.exitCode = await work;

/** @returns the exit code */
async function run(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === null) {
      printLine(HELP);
      return 0;
    }
    printLine(`seed ${options.seed}, Node.js ${process.version}, ${availableParallelism()} cores`);
    return await (options.planted ? plantAll(options, closers, printLine) : injectAll(options));
  } catch (error) {
    process.stderr.write(`${error instanceof UsageError ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    await closers.close();
  }
}

/** Ends everything that was started, and that is being started. */
async function stop(): Promise<void> {
  if (stopped) return;
  stopped = true;
  const end = () => Promise.all([endAll(), closers.end()]);
  await end();
  await Promise.race([work, delay(END_TIMEOUT_MS)]);
  await end();
  process.exit(130);
}

async function injectAll(options: Options): Promise<number> {
  const setting = await openStage(options, closers);
  const outcomes: Outcome[] = [];
  const deadline = performance.now() + options.minutes * 60_000;
  for (const fault of selectFaults(options)) {
    const unavailable = (await fault.unavailable?.(options)) ?? null;
    if (unavailable !== null) {
      printLine(`skipped ${fault.numbers.join(', ')} ${fault.title}: ${unavailable}`);
      continue;
    }
    for (const backend of backendsOf(fault, options)) {
      if (performance.now() > deadline || stopped) {
        printLine(
          `skipped ${fault.numbers.join(', ')} ${fault.title}: ${stopped ? 'stopped' : 'no time left'}`,
        );
        continue;
      }
      const outcome = await runFault(setting, fault, backend);
      outcomes.push(outcome);
      printLine(formatOutcome(outcome));
    }
  }
  const red = outcomes.filter(({ broken }) => broken.length > 0);
  printLine(`\n${outcomes.length - red.length} green, ${red.length} red; seed ${options.seed}`);
  return red.length === 0 ? 0 : 1;
}

function selectFaults({ faults, short }: Options): readonly Fault[] {
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
