import type { App } from '../app/app.ts';
import { steadyClock } from '../lib/clock.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { LiveBlock, stderrBlock, type TerminalStream } from '../lib/live-block.ts';
import { type FindingGroup, findingGroups } from '../reporting/reports/findings.ts';
import { summaryLines } from './summary.ts';

/** Counts of a dataset. For node_health, probes count as rows. */
interface Found {
  readonly dataset: string;
  readonly targets: number;
  readonly rows: number;
  readonly today: number;
  readonly last: Date | null;
}

const NODE_HEALTH = 'node_health';
/** Window of the row rate, in ms. */
const RATE_WINDOW_MS = 30_000;

/**
 * Returns the terminal for a live summary. Returns undefined if there is no terminal, the log is JSON, or the
 * terminal is plain.
 */
export function findTerminal(app: App): TerminalStream | undefined {
  if (app.environment.logJson || app.environment.plainTerminal) return undefined;
  return [process.stderr, process.stdout].find(({ isTTY }) => isTTY);
}

/** Live summary of `up` at the bottom of the terminal: recorded rows, their rate, and findings. */
export class LiveSummary {
  readonly #app: App;
  readonly #block: LiveBlock;
  readonly #address: string | null;
  readonly #counted: { at: number; rows: number }[] = [];
  #ended = false;
  #first: ReadonlyMap<string, number> | null = null;

  /** @param address URL of the pages; null if this process has no server */
  constructor(app: App, screen: TerminalStream, address: string | null) {
    this.#app = app;
    this.#block = screen === process.stderr ? stderrBlock : new LiveBlock(screen);
    this.#address = address;
  }

  /**
   * Queries the state of the recording and draws the summary. If the query fails, draws the error of the
   * database.
   */
  async show(): Promise<void> {
    const summary = await this.#summary();
    if (this.#ended) return;
    this.#block.show((columns, rows) => summaryLines(summary, columns, rows).join('\n'));
  }

  /** Erases the summary. */
  end(): void {
    this.#ended = true;
    this.#block.end();
  }

  async #summary() {
    const { config, database } = this.#app;
    const network = this.#app.sandbox ? 'the simulated network (sandbox)' : config.network;
    const common = { now: new Date(this.#app.clock()), network, address: this.#address };
    try {
      const [found, findings] = await Promise.all([
        database.reader<Found[]>`
          select dataset, count(*)::int as targets, sum(rows_today)::float8 as today,
            case when dataset = 'node_health' then (select sum(probes) from reporting_internal.node_probes)
              else sum(rows_written) end::float8 as rows, max(last_success_at) as last
          from reporting.freshness group by dataset`,
        findingGroups(database.reader),
      ]);
      this.#first ??= new Map(found.map(({ dataset, rows }) => [dataset, rows]));
      const datasets = found.map(({ dataset, rows, today, last }) => {
        const isProbed = dataset === NODE_HEALTH;
        return { dataset, rows, today, last, isProbed, added: rows - (this.#first?.get(dataset) ?? 0) };
      });
      const targets = found.reduce((sum, one) => sum + one.targets, 0);
      const recorded = found.filter(({ dataset }) => dataset !== NODE_HEALTH);
      const rate = this.#rateOf(recorded.reduce((sum, { rows }) => sum + rows, 0));
      return { ...common, datasets, targets, findings, rate, databaseError: null };
    } catch (error) {
      const findings: FindingGroup[] = [];
      return {
        ...common,
        datasets: [],
        targets: 0,
        findings,
        rate: null,
        databaseError: toErrorMessage(error),
      };
    }
  }

  #rateOf(rows: number): number | null {
    const now = steadyClock();
    this.#counted.push({ at: now, rows });
    while (this.#counted[1] && now - this.#counted[1].at >= RATE_WINDOW_MS) this.#counted.shift();
    const [oldest] = this.#counted;
    return oldest && now > oldest.at ? (1000 * (rows - oldest.rows)) / (now - oldest.at) : null;
  }
}
