import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { formatLogLine } from '../../src/telemetry/log.ts';
import { startCommand } from '../support/cli.ts';
import { runCommand } from '../support/command-line.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let sandbox: Sandbox;
const { it, database } = withDatabase();
let restored: TestDatabase;
const dir = temporaryFolder('examples');
beforeAll(async () => {
  restored = await testDatabase();
  sandbox = await startSandbox({ incidents: false });
  const { url, watch } = sandbox;
  const nodes = watch.nodes.slice(0, 1).map(({ name, path }) => ({ name, url: url + path }));
  writeFileSync(
    join(dir, 'recorder.yaml'),
    stringify({
      network: 'sandbox',
      upstreams: { chainData: { url }, metrics: { url }, nodes },
      watch: { chains: ['43114'], nodeIds: watch.nodeIds.slice(0, 1) },
      datasets: { metric_points: { metrics: ['txCount'], intervals: ['day'] } },
    }),
  );
});
afterAll(async () => {
  await sandbox.close();
  await restored.close();
});

/** Commands that run until they are stopped. */
const ENDLESS = ['up', 'sandbox'];

/** Returns the words of a command line, with paths and times that exist here. */
function argumentsOf(line: string): string[] {
  const here = line
    .replace('/var/', `${dir}/`)
    .replace('2026-12-01T04:00', new Date(Date.now() + 3_600_000).toISOString())
    .replace('--port 8650', '--port 0')
    .replace('chain-recorder init', 'chain-recorder init --config other.yaml --no-check');
  return [...here.matchAll(/"([^"]*)"|(\S+)/g)].slice(1).map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Returns the form of a line: without the widths of columns, numbers, hashes and the omitted part of an example. */
const shapeOf = (line: string) =>
  line
    .replaceAll(dir, '/var')
    .replace(/\s*…?$/, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
    .replaceAll(/\b[0-9a-f]{16,}\b…?/g, 'H')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/other\.yaml/g, 'recorder.yaml')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Whether a line has the parts of an expected one in order; `…` is any text. */
function matches(line: string, expected: string): boolean {
  let at = 0;
  for (const part of expected.split('…')) {
    const found = line.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns the output of a command; of one that does not end, up to a text. */
async function outputOf(args: readonly string[], until: string): Promise<string> {
  const url = (args[0] === 'restore' ? restored : database).url;
  const env = { DATABASE_URL: url, LOG_LEVEL: args[0] === 'up' ? 'info' : 'warn' };
  if (!ENDLESS.includes(args[0] ?? '')) {
    const { stdout, stderr } = await runCommand(args, env, dir);
    return stdout + stderr;
  }
  const { process: child, ended } = startCommand(args, env, dir);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  while (!output.includes(until) && child.exitCode === null) await delay(50);
  child.kill('SIGTERM');
  await ended;
  return output;
}

/** Ordered by dependencies; the records of `up` would change the output of others. */
const ORDER = ['migrate', 'record', 'backfill', 'seal', 'verify', 'backup', 'restore'];
const examples = Object.entries<string>(EXAMPLES);
const rank = (name: string) => {
  const place = ORDER.indexOf(name);
  return name === 'up' ? Infinity : place < 0 ? ORDER.length : place;
};
examples.sort(([one], [other]) => rank(one) - rank(other));

it.each(examples)(
  'prints the documented output of the example of %s --help',
  { timeout: 120_000 },
  async (name, example) => {
    const [line = '', ...more] = example.split('\n');
    const end = more.findIndex((one) => !one.startsWith('  '));
    const documented = end < 0 ? more : more.slice(0, end);
    expect(documented).not.toEqual([]);
    const output = await outputOf(argumentsOf(line), name === 'up' ? 'recording started' : '\n');
    // Log lines are texts on a terminal only.
    const isLogLine = (one: string) => name === 'up' && one.startsWith('{');
    const shapes = output.split('\n').map((one) => shapeOf(isLogLine(one) ? formatLogLine(one) : one));
    expect(
      documented.filter((one) => !shapes.some((shape) => matches(shape, shapeOf(one)))),
      output,
    ).toEqual([]);
  },
);
