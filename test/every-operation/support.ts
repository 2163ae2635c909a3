import type postgres from 'postgres';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { activeFeeds, activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../src/app/upstream-opener.ts';
import { validateConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { ActiveLedger } from '../../src/health/node-health.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import { Prober } from '../../src/health/prober.ts';
import type { ActiveFeed, ConfiguredFeed } from '../../src/recording/active-feed.ts';
import type { RecordingContext, RunResult } from '../../src/recording/context.ts';
import type { Job } from '../../src/recording/job.ts';
import { isDue, loadStates, type TargetStates, targetStateOf } from '../../src/recording/plan.ts';
import { runJobs } from '../../src/recording/record-in-foreground.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { NOW, stillSandbox } from '../sandbox/client.ts';
import { commitsFor } from '../support/commits.ts';
import { rowsOf } from '../support/rows.ts';
import { canonical, type Exact, exactJson } from './exact-json.ts';
import type { ExpectedRow, LoggedResponse } from './extraction.ts';

const DAY = 86_400_000;

/** Time at which the small network is recorded: a day with pending exports from the P-chain to the X-chain. */
export const INSTANT = NOW + 6 * DAY;
/** Time from there to a day with pending exports from the C-chain. */
export const TO_ANOTHER_DAY = DAY;

/**
 * Starts a network that is quick to record: four months old, few blocks, and every kind of subnet except the youngest.
 */
export async function smallNetwork(): Promise<{ sandbox: Sandbox; clock: ManualClock }> {
  const made = await stillSandbox({
    genesisMs: INSTANT - 115 * DAY,
    blocksPerHour: 0.25,
    validators: 14,
    utxos: 30,
    ledgerBodies: true,
    ledgerCalls: 100_000,
  });
  made.clock.advance(INSTANT - made.clock.now());
  return made;
}

/** Checks a configuration whose upstreams are the sandbox; nodes by name, each at a path of the sandbox. */
export function configFor(
  sandbox: Sandbox,
  nodes: readonly { readonly name: string; readonly path: string; readonly tags?: readonly string[] }[],
  more: { readonly watch: object; readonly datasets?: object },
): Config {
  const { url } = sandbox;
  return validateConfig(
    {
      network: 'sandbox',
      upstreams: {
        chainData: { url },
        metrics: { url },
        nodes: nodes.map(({ path, ...node }) => ({ ...node, url: url + path })),
      },
      ...more,
    },
    catalogNames,
    'the test',
  );
}

/** Selects the jobs of a feed, as `src/recording/plan.ts` does. */
export type Plan = (feed: ActiveFeed, states: TargetStates, now: number) => Job[];

/** Records a configuration in this process. */
export class Recorder {
  readonly config: Config;
  readonly feeds: readonly ActiveFeed[];
  readonly ledgers: readonly ActiveLedger[];
  readonly sql: postgres.Sql;
  readonly #clock: ManualClock;
  readonly #context: RecordingContext;

  constructor(sql: postgres.Sql, config: Config, clock: ManualClock) {
    this.config = config;
    this.feeds = activeFeeds(config);
    this.ledgers = activeLedgers(config);
    this.sql = sql;
    this.#clock = clock;
    this.#context = {
      sql,
      commits: commitsFor(sql),
      clock: clock.now,
      worker: 'test',
      open: createUpstreamOpener(config, { chainDataKey: undefined, metricsKey: undefined }, sql, clock.now),
    };
  }

  /** Plans and runs every feed once, and probes the nodes that are due. */
  async round(plan: Plan): Promise<RunResult[]> {
    const runs: RunResult[] = [];
    for (const feed of this.feeds) runs.push(...(await this.run(feed, await this.planJobs(feed, plan))));
    for (const ledger of this.ledgers) await this.#watch(ledger);
    return runs;
  }

  async planJobs(feed: ActiveFeed, plan: Plan): Promise<Job[]> {
    await registerTargets(this.sql, feed, this.#clock.now());
    return plan(feed, await loadStates(this.sql, feed), this.#clock.now());
  }

  async run(feed: ActiveFeed, jobs: readonly Job[]): Promise<RunResult[]> {
    const { runs, busy } = await runJobs(this.#context, feed, jobs, new AbortController().signal);
    if (busy.length > 0) throw new Error(`held by another run: ${busy.join(', ')}`);
    return runs;
  }

  async #watch(ledger: ActiveLedger): Promise<void> {
    const now = this.#clock.now();
    await registerTargets(this.sql, ledger, now);
    const states = await loadStates(this.sql, ledger);
    const isAnyDue = ledger.targets.some((target) =>
      ledger.datasets.some(({ name, every }) => isDue(targetStateOf(states, target, name), every, now)),
    );
    if (isAnyDue) await this.#probe(ledger);
  }

  /** Probes every node once, as the prober does. */
  async #probe(ledger: ActiveLedger): Promise<void> {
    const { sql } = this;
    const prober = await Prober.acquire({
      sql,
      wall: this.#clock.now,
      steady: this.#clock.now,
      log: { info: () => {}, warn: () => {} },
      observer: ledger.targets[0]?.observer ?? '',
      holder: 'test',
      every: ledger.every,
      targets: ledger.targets.map(({ node = '', probe = '' }) => ({ node, probe })),
      query: createProbeQuery(this.#context.open, ledger, this.#clock.now),
      maintenance: async () => [],
    });
    await prober?.once(new AbortController().signal);
    await sql`
      update recorder.target_datasets set last_success_at = ${new Date(this.#clock.now())} where source = ${ledger.source.name}`;
  }

  /** Feeds and ledgers of the configuration. */
  get watched(): readonly ConfiguredFeed[] {
    return [...this.feeds, ...this.ledgers];
  }

  /** Returns the feed or ledger that records a dataset. */
  watchedOf(dataset: string): ConfiguredFeed {
    const found = this.watched.find(({ datasets }) => datasets.some(({ name }) => name === dataset));
    if (!found) throw new Error(`nothing records ${dataset}`);
    return found;
  }

  /** Returns the feed that records a dataset. */
  feedOf(dataset: string): ActiveFeed {
    const feed = this.feeds.find(({ datasets }) => datasets.some(({ name }) => name === dataset));
    if (!feed) throw new Error(`nothing records ${dataset}`);
    return feed;
  }
}

/** Returns the successful responses of the sandbox after a call. */
export function responsesSince(sandbox: Sandbox, call: number): LoggedResponse[] {
  return sandbox.ledger
    .calls()
    .filter((one) => one.call > call && one.status < 300)
    .map(({ operation, target, body = 'null' }) => {
      const { pathname, searchParams } = new URL(target, sandbox.url);
      return { operation, path: pathname, query: searchParams, text: body, body: exactJson(body) };
    });
}

/** Returns the number of the last call. */
export const lastCall = (sandbox: Sandbox) => sandbox.ledger.calls().at(-1)?.call ?? 0;

/** Reads the rows of a dataset's table, and writes expected rows in the same way. */
export class Table {
  readonly #sql: postgres.Sql;
  readonly #name: string;
  readonly #columns: readonly string[];
  readonly #types: ReadonlyMap<string, string>;

  private constructor(
    sql: postgres.Sql,
    name: string,
    columns: readonly string[],
    types: ReadonlyMap<string, string>,
  ) {
    this.#sql = sql;
    this.#name = name;
    this.#columns = columns;
    this.#types = types;
  }

  static async open(sql: postgres.Sql, name: string, columns: readonly string[]): Promise<Table> {
    const rows = await sql<{ name: string; type: string }[]>`
      select column_name as name, udt_name as type from information_schema.columns
      where table_schema = 'recorder' and table_name = ${name}`;
    return new Table(sql, name, columns, new Map(rows.map((row) => [row.name, row.type])));
  }

  /** Returns every row, whatever its time, or those of a condition, one line each, sorted. */
  async storedLines(condition = 'true'): Promise<string[]> {
    const list = this.#columns.map((column) =>
      this.#types.get(column) === 'timestamptz'
        ? `trim_scale(extract(epoch from "${column}"))::text as "${column}"`
        : `"${column}"::text as "${column}"`,
    );
    const rows = await this.#sql.unsafe<Record<string, string | null>[]>(
      `select ${list.join(', ')} from ${rowsOf(this.#name)} r where ${condition}`,
    );
    return rows.map((row) => this.#line((column) => this.#read(column, row[column] ?? null))).sort();
  }

  /** Returns the expected rows, one line each, without duplicates, sorted. */
  expectedLines(rows: readonly ExpectedRow[]): string[] {
    // The service writes addresses in EIP-55 case; stored they are lower case.
    const toLowerCaseAddress = (value: Exact) =>
      typeof value === 'string' && /^0x[\da-fA-F]*$/.test(value) ? value.toLowerCase() : value;
    return [
      ...new Set(rows.map((row) => this.#line((column) => toLowerCaseAddress(row[column] ?? null)))),
    ].sort();
  }

  #read(column: string, text: string | null): Exact {
    return text !== null && this.#types.get(column) === 'jsonb' ? exactJson(text) : text;
  }

  #line(value: (column: string) => Exact): string {
    return this.#columns
      .map((column) => {
        const one = value(column);
        const text = typeof one === 'boolean' ? `"${one}"` : canonical(one);
        return `${column}=${typeof one === 'object' ? text.replaceAll(/"0x[\da-fA-F]*"/g, (hex) => hex.toLowerCase()) : text}`;
      })
      .join(' ');
  }
}
