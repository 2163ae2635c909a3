import { readdir, readFile } from 'node:fs/promises';
import postgres from 'postgres';

/**
 * Measures the processor time of a server and of the connections of its database: other load on the machine affects it
 * less than elapsed time. On Linux only; elsewhere, and for a database on another machine, it is zero.
 */
export class ProcessorMeter {
  readonly #sql: postgres.Sql;
  readonly #server: number;
  /** The last reading of each connection, ns: an ended one keeps it. */
  readonly #connections = new Map<number, number>();

  /** @param url a database of this machine; @param server the process that serves it */
  constructor(url: string, server: number) {
    this.#sql = postgres(url, { max: 1, onnotice: () => {} });
    this.#server = server;
  }

  /** Processor time until now, ms. */
  async read(): Promise<number> {
    const backends = await this.#sql<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    for (const { pid } of backends)
      this.#connections.set(pid, Math.max(this.#connections.get(pid) ?? 0, await processorTime(pid)));
    const connectionNs = [...this.#connections.values()].reduce((sum, one) => sum + one, 0);
    return (connectionNs + (await processorTime(this.#server))) / 1e6;
  }

  close(): Promise<void> {
    return this.#sql.end();
  }
}

/** The processor time of all threads of a process, ns; 0 if it ended. */
export async function processorTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  );
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
}
