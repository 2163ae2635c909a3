import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';

/** Another process of the benchmark, which sends a message once at its start, and one in response to each message. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;

  private constructor(process: ChildProcess, name: string) {
    this.#process = process;
    process.on('error', () => {}); // that of the signal: a caller that waits for a response gets the error
    this.#name = name;
  }

  /**
   * Starts a module below bench/, or a plain one by its URL, in a process that ends with the signal.
   * @returns the process and its first message. @throws Error if it ends before its first message
   */
  static async start<T>(
    module: string,
    args: readonly string[],
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<{ child: Child; first: T }> {
    signal.throwIfAborted();
    const file = fileURLToPath(new URL(module, import.meta.url));
    const execArgv = file.endsWith('.ts') ? process.execArgv : [];
    const child = new Child(
      fork(file, [...args], { signal, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv }),
      module,
    );
    return { child, first: await child.#next(schema) };
  }

  /** Sends a message and waits for the response. @throws Error if the process ends before */
  async request<T>(message: string, schema: z.ZodType<T>): Promise<T> {
    this.#process.send(message);
    return this.#next(schema);
  }

  /** Ends the process, at once. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  #next<T>(schema: z.ZodType<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (work: () => void) => {
        this.#process.off('message', onMessage).off('exit', ended).off('error', reject);
        work();
      };
      const onMessage = (message: unknown) => settle(() => resolve(schema.parse(message)));
      const ended = () => settle(() => reject(new Error(`${this.#name} ended before it answered`)));
      this.#process.once('message', onMessage).once('exit', ended).once('error', reject);
    });
  }
}
