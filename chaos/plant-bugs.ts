import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRecorder } from './build.ts';
import type { Closers } from './closers.ts';
import { faultCatalog } from './faults/catalog.ts';
import type { Fault } from './faults/fault.ts';
import type { Options } from './options.ts';
import { type PlantedBug, plantedBugs } from './planted-bugs.ts';
import { type Outcome, runFault } from './runner.ts';
import { openStage } from './stage.ts';
import type { Setting } from './world.ts';

/** Inserts one bug into a copy of the recorder and injects the fault that reveals it. */
export async function plant(setting: Setting, planted: PlantedBug): Promise<Outcome> {
  const dir = await mkdtemp(join(tmpdir(), 'chaos-planted-'));
  try {
    const cli = await buildRecorder(dir, planted.patches);
    const fault = faultOf(planted.fault);
    const { undefended } = planted;
    return await runFault(
      { ...setting, cli },
      undefended === undefined
        ? fault
        : {
            ...fault,
            inject: async (world) => {
              await world.sql.unsafe(undefended);
              await fault.inject(world);
            },
          },
      planted.backend,
      [planted.invariant],
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Returns the fault that reveals a bug. @throws Error if the catalogue does not contain it */
export function faultOf({ number, title }: PlantedBug['fault']): Fault {
  const fault = faultCatalog.find((one) => one.numbers.includes(number) && one.title.startsWith(title));
  if (!fault) throw new Error(`no fault ${number} ${title}`);
  return fault;
}

/** Whether the invariant detected the bug. */
export function isDetected({ invariant }: PlantedBug, { broken }: Outcome): boolean {
  return broken.some(({ letter }) => letter === invariant);
}

/** Inserts every bug in turn. @returns the exit code: 0 if every invariant detected its bug */
export async function plantAll(
  options: Options,
  closers: Closers,
  printLine: (text: string) => void,
): Promise<number> {
  const setting = await openStage(options, closers);
  let blind = 0;
  for (const planted of plantedBugs) {
    const { invariant, bug, fault } = planted;
    if (options.faults.size > 0 && !options.faults.has(fault.number)) continue;
    const outcome = await plant(setting, planted);
    const detected = isDetected(planted, outcome);
    if (!detected) blind += 1;
    printLine(
      `${detected ? 'red, as it must be' : 'NOT SEEN'}: ${invariant}, ${bug} (fault ${fault.number}, ${outcome.seconds} s)`,
    );
    for (const { letter, problem } of outcome.broken.slice(0, detected ? 3 : 10))
      printLine(`    ${letter}: ${problem.slice(0, 240)}`);
  }
  return blind === 0 ? 0 : 1;
}
