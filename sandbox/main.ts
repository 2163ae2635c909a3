import { parseArgs } from 'node:util';
import { acceleratedClock, ManualClock } from './clock.ts';
import { FACTS, type Fact, factOf } from './facts.ts';
import type { SandboxOptions } from './options.ts';
import { startSandbox } from './server.ts';

/** Options of the command line. `speed` and `blocks-per-hour` are numbers; `start` is an ISO 8601 time. */
const OPTIONS = {
  port: { type: 'string', default: '0' },
  host: { type: 'string', default: '127.0.0.1' },
  seed: { type: 'string', default: '1' },
  speed: { type: 'string', default: '1' },
  start: { type: 'string' },
  'manual-clock': { type: 'boolean', default: false },
  'blocks-per-hour': { type: 'string', default: '4' },
  'no-incidents': { type: 'boolean', default: false },
  facts: { type: 'string', default: '' },
  parent: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof readArguments>;

function readArguments() {
  return parseArgs({ options: OPTIONS }).values;
}

/** Returns the facts of `--facts`, a comma-separated list of names. */
function facts(values: Values): Fact[] {
  const names = values.facts.split(',').filter((name) => name !== '');
  return names.map((name) => {
    const fact = factOf(name);
    if (fact === undefined) throw new Error(`--facts must be of ${Object.keys(FACTS).join(', ')}`);
    return fact;
  });
}

function integer(values: Values, name: 'port' | 'seed' | 'blocks-per-hour'): number {
  const value = /^\d+$/.test(values[name]) ? Number(values[name]) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new Error(`--${name} must be a whole number`);
  if (name === 'port' && value > 65_535) throw new Error('--port must be a whole number, at most 65535');
  return value;
}

/**
 * Returns the clock options: the clock of the machine, a clock with another start or speed, or a manual
 * clock. If the start would leave no history, the networks start 400 days before the start of the clock.
 */
function clockOptions(values: Values): Pick<SandboxOptions, 'clock' | 'advance' | 'genesisMs'> {
  const startMs = values.start === undefined ? Date.now() : Date.parse(values.start);
  const speed = Number(values.speed);
  if (Number.isNaN(startMs)) throw new Error('--start must be an ISO 8601 time');
  if (!(speed > 0)) throw new Error('--speed must be a positive number');
  const early = startMs < Date.UTC(2025, 3, 1) ? { genesisMs: startMs - 400 * 86_400_000 } : {};
  if (values['manual-clock']) {
    const manual = new ManualClock(startMs);
    return { clock: manual.now, advance: manual.advance, ...early };
  }
  return values.start === undefined && speed === 1
    ? {}
    : { clock: acceleratedClock(startMs, speed), ...early };
}

async function main(): Promise<void> {
  const values = readArguments();
  const sandbox = await startSandbox({
    port: integer(values, 'port'),
    host: values.host,
    seed: integer(values, 'seed'),
    blocksPerHour: integer(values, 'blocks-per-hour'),
    facts: facts(values),
    incidents: !values['no-incidents'],
    ...clockOptions(values),
  });
  const stop = (): void => {
    void sandbox.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (values.parent) process.stdin.once('end', stop).once('error', stop).resume();
  process.stdout.write(`${JSON.stringify({ url: sandbox.url, seed: sandbox.seed, ...sandbox.watch })}\n`);
}

/** Returns the message of an error, with the fix if the port is in use. */
function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inUse = 'code' in error && error.code === 'EADDRINUSE';
  return inUse ? `${error.message}: another program listens there: name another --port` : error.message;
}

main().catch((error: unknown) => {
  process.stderr.write(`${formatError(error)}\n`);
  process.exitCode = 2;
});
