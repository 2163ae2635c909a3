import { Closers } from './closers.ts';
import type { Fault } from './faults/fault.ts';
import type { Letter } from './invariants/invariant.ts';
import { invariants } from './invariants/invariants.ts';
import type { BackendKind } from './options.ts';
import { type Setting, World } from './world.ts';

/** Result of one fault on one queue backend. */
export interface Outcome {
  readonly fault: Fault;
  readonly backend: BackendKind;
  readonly served: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, number | string>>;
  readonly satisfied: readonly Letter[];
  /** Violations, by invariant; `run` for errors of the run itself. */
  readonly broken: readonly { readonly letter: Letter | 'run'; readonly problem: string }[];
  readonly seconds: number;
}

/** Injects one fault and checks every invariant that must hold after it. */
export async function runFault(
  setting: Setting,
  fault: Fault,
  backend: BackendKind,
  letters: readonly Letter[] = fault.invariants,
): Promise<Outcome> {
  const closers = new Closers();
  stopping.add(closers);
  if (stopped) await closers.end();
  const startedAt = performance.now();
  const broken: { letter: Letter | 'run'; problem: string }[] = [];
  const satisfied: Letter[] = [];
  let world: World | null = null;
  try {
    const { rows } = setting.options;
    const sandbox = typeof fault.sandbox === 'function' ? fault.sandbox({ rows }) : fault.sandbox;
    world = await World.open(setting, backend, closers, sandbox);
    await fault.inject(world).catch((error: unknown) => {
      broken.push({
        letter: 'run',
        problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    });
    world.noteServed();
    for (const letter of letters) {
      const problems = await invariants[letter].check(world);
      if (problems.length === 0) satisfied.push(letter);
      broken.push(...problems.map((problem) => ({ letter, problem })));
    }
    for (const { what, holds } of world.evidence.claims)
      if (!holds) broken.push({ letter: 'run', problem: what });
    if (world.evidence.totalServed === 0) broken.push({ letter: 'run', problem: 'the fault never happened' });
  } catch (error) {
    broken.push({
      letter: 'run',
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  } finally {
    if (broken.length > 0) broken.push(...lastLogLines(world));
    await closers.close();
    stopping.delete(closers);
  }
  return {
    fault,
    backend,
    served: Object.fromEntries(world?.evidence.served ?? []),
    figures: Object.fromEntries(world?.evidence.figures ?? []),
    satisfied,
    broken,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
  };
}

/** The last log lines of the recorders of a failed run. */
function lastLogLines(world: World | null): { letter: 'run'; problem: string }[] {
  return (world?.recorders ?? []).slice(-3).map(({ args, running, lines }) => ({
    letter: 'run',
    problem: `${args.join(' ')} ${running ? 'runs' : 'ended'}; its log:\n      ${lines.slice(-40).join('\n      ')}`,
  }));
}

/** Resources to end when the run is stopped from outside. */
const stopping = new Set<Closers>();
let stopped = false;

/** Ends everything that an active fault has started, and starts from now on. */
export async function endAll(): Promise<void> {
  stopped = true;
  await Promise.all([...stopping].map((closers) => closers.end()));
}

/** An outcome in lines for people. */
export function formatOutcome({
  fault,
  backend,
  served,
  figures,
  satisfied,
  broken,
  seconds,
}: Outcome): string {
  const counts = Object.entries(served).map(([kind, times]) => `${kind} × ${times}`);
  const figureLines = Object.entries(figures).map(([name, value]) => `    ${name}: ${value}`);
  const queue = fault.backends === 'any' ? 'no queue' : backend;
  return [
    `${broken.length === 0 ? 'green' : 'RED  '} ${fault.numbers.join(', ')} ${fault.title} (${queue}, ${seconds} s)`,
    `    happened: ${counts.join(', ') || 'nothing'}`,
    `    satisfied: ${satisfied.join('') || 'none'}`,
    ...figureLines,
    ...broken.slice(0, 20).map(({ letter, problem }) => `    BROKEN ${letter}: ${problem}`),
  ].join('\n');
}
