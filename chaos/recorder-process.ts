import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { peakMemory } from './processes.ts';
import { until } from './until.ts';

/** Exit of a process. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const MAX_LINES = 20_000;

/** One process of the recorder: its output, its exit, its memory. */
export class RecorderProcess {
  readonly args: readonly string[];
  /** Its stderr: its log, one JSON object a line. */
  readonly lines: string[] = [];
  /** Lines that were written, also those that are no longer kept. */
  lineCount = 0;
  stdout = '';
  /** In MiB, at the last measurement. */
  peak = 0;
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;

  constructor(node: readonly string[], args: readonly string[], cwd: string, env: Record<string, string>) {
    this.args = args;
    const child = spawn(process.execPath, [...node, ...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.stdout.length < 10_000_000) this.stdout += chunk.toString('utf8');
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.lineCount += 1;
      this.lines.push(line);
      if (this.lines.length > MAX_LINES) this.lines.splice(0, MAX_LINES / 2);
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    if (this.running) this.#child.kill(name);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<Ending> {
    await this.samplePeakMemory();
    this.signal('SIGKILL');
    return this.ended;
  }

  /** Ends it, also where it is frozen. */
  async end(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGKILL');
    await this.ended.catch(() => {});
  }

  /** Stops it with SIGTERM. @returns its exit, and the milliseconds until then; after 60 s it is killed */
  async stop(): Promise<Ending & { readonly elapsedMs: number }> {
    await this.samplePeakMemory();
    const signaledAt = performance.now();
    this.signal('SIGTERM');
    const killTimer = setTimeout(() => this.signal('SIGKILL'), 60_000);
    const ending = await this.ended;
    clearTimeout(killTimer);
    return { ...ending, elapsedMs: Math.round(performance.now() - signaledAt) };
  }

  /** Waits for a line with the text. */
  async waitForLog(text: string, timeoutMs = 60_000): Promise<string> {
    return until(
      `the recorder to log "${text}"; it logged\n${this.lines.slice(-5).join('\n')}`,
      () => this.find(text),
      timeoutMs,
    );
  }

  /** The first line with the text. */
  find(text: string): string | undefined {
    return this.lines.find((line) => line.includes(text));
  }

  /** The number of lines with the text. */
  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }

  /** The address of its server. */
  get address(): string {
    return /"address":"([^"]+)"/.exec(this.find('the server listened') ?? '')?.[1] ?? '';
  }

  async samplePeakMemory(): Promise<number> {
    if (this.running) this.peak = Math.max(this.peak, await peakMemory(this.pid));
    return this.peak;
  }
}
