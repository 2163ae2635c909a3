import { appendFileSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import postgres from 'postgres';
import { afterAll, afterEach, beforeEach, expect, inject } from 'vitest';
import { between, type ProcessorTime, processorTime } from './processor-time.ts';

/** One line of the measurements: a complete file with its imports and hooks, or a test of it. Times are in ms. */
export interface Measurement extends ProcessorTime {
  readonly file: string;
  /** Null for the complete file. */
  readonly test: string | null;
  readonly elapsed: number;
}

// A setup file of the profile: it is evaluated before each test file, in the same process.
const { TEST_PROFILE } = process.env;
const postmaster = await postmasterOf(inject('databaseUrl'));
let measuring = 0;
const fileStart = moment();
let testStart = fileStart;

beforeEach(() => {
  testStart = moment();
});
afterEach(({ task }) => write(testStart, task.name));
afterAll(() => write(fileStart, null));

/** Reading `/proc` takes as long as a short test: its processor time, in ms, is subtracted. */
function moment() {
  const before = process.cpuUsage();
  const { tests, ...others } = processorTime(postmaster);
  const { user, system } = process.cpuUsage(before);
  const time = { ...others, tests: tests - measuring };
  measuring += (user + system) / 1000;
  return { at: performance.now(), time };
}

function write(start: ReturnType<typeof moment>, test: string | null): void {
  if (TEST_PROFILE === undefined) throw new Error('TEST_PROFILE is needed: the file of the measurements');
  const end = moment();
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  const measured: Measurement = { file, test, elapsed: end.at - start.at, ...between(start.time, end.time) };
  appendFileSync(TEST_PROFILE, `${JSON.stringify(measured)}\n`);
}

/** Returns null if the server's files are not on this machine. */
async function postmasterOf(url: string): Promise<number | null> {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql<{ data_directory: string }[]>`show data_directory`;
    const [pid] = readFileSync(join(row?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n');
    return Number(pid);
  } catch {
    return null;
  } finally {
    await sql.end();
  }
}
