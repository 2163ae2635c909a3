import type postgres from 'postgres';
import { expect } from 'vitest';
import type { ManualClock } from '../../../sandbox/clock.ts';
import type { Sandbox } from '../../../sandbox/server.ts';
import { catalogNames } from '../../../src/app/configured-feeds.ts';
import { openComparisonConnection } from '../../../src/db/client.ts';
import { planAll } from '../../../src/recording/plan.ts';
import { compareSources } from '../../../src/reporting/checks/compare.ts';
import { configFor, Recorder, smallNetwork } from '../../every-operation/support.ts';
import { sendJson, type UpstreamServer, upstreamServer } from '../../support/upstream-server.ts';
import { chance } from './recorded-year.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const NODES = ['validator-1', 'validator-2', 'validator-3'];
/** Only the compared datasets are recorded. */
const COMPARED = new Set([
  ...[
    'validators',
    'validator_delegators',
    'p_blocks',
    'x_blocks',
    'chain_heights',
    'current_supply',
    'p_balances',
  ],
  ...['x_balances', 'primary_balances', 'proposed_blocks', 'staking_transactions', 'pending_rewards'],
]);
const ONLY = Object.fromEntries(
  catalogNames.datasets.filter((name) => !COMPARED.has(name)).map((name) => [name, { enabled: false }]),
);

// biome-ignore lint/suspicious/noExplicitAny: answers are changed freely
export type Json = any;

interface DiscrepancyRow {
  readonly check_name: string;
  readonly subject: string;
  readonly at: Date;
  readonly left_value: string;
  readonly right_value: string;
  readonly ended_at: Date | null;
}

/** A recorder of three nodes and the data service of a small network, whose responses a test changes in transit. */
export class ComparedSources {
  /** Changes a response in transit, by the path and the body of the request. Default: nothing. */
  alter: (path: string, body: string, answer: Json) => void = () => {};
  /** Whether a path does not respond now. */
  isUnavailable: (path: string) => boolean = () => false;
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly #sql: postgres.Sql;
  readonly #comparing: postgres.Sql;
  readonly #between: UpstreamServer;
  readonly #recorder: Recorder;

  private constructor(
    sql: postgres.Sql,
    comparing: postgres.Sql,
    { sandbox, clock }: { sandbox: Sandbox; clock: ManualClock },
    between: UpstreamServer,
  ) {
    this.#sql = sql;
    this.#comparing = comparing;
    this.#between = between;
    this.sandbox = sandbox;
    this.clock = clock;
    const { addresses, nodeIds } = sandbox.watch;
    const config = configFor(
      { ...sandbox, url: between.url },
      NODES.map((name) => ({ name, path: `/nodes/${name}` })),
      { watch: { addresses: addresses.slice(0, 4), nodeIds: nodeIds.slice(0, 1) }, datasets: ONLY },
    );
    this.#recorder = new Recorder(sql, config, clock);
  }

  static async open(databaseUrl: string, sql: postgres.Sql): Promise<ComparedSources> {
    const network = await smallNetwork();
    let opened: ComparedSources | undefined;
    const between = await upstreamServer(async ({ method, url, headers, body }, response) => {
      if (opened?.isUnavailable(url.pathname)) return response.writeHead(400).end(); // not retried
      const forwarded = await fetch(network.sandbox.url + url.pathname + url.search, {
        method,
        headers: { 'content-type': headers['content-type'] ?? 'application/json' },
        ...(method === 'POST' ? { body } : {}),
      });
      // Without this header of nodes the recorder requests the node id before and after each call.
      const nodeId = forwarded.headers.get('node-id');
      if (nodeId !== null) response.setHeader('node-id', nodeId);
      const answer: Json = JSON.parse(await forwarded.text());
      opened?.alter(url.pathname, body, answer);
      sendJson(response, answer, forwarded.status);
    });
    opened = new ComparedSources(sql, openComparisonConnection(databaseUrl), network, between);
    return opened;
  }

  async close(): Promise<void> {
    await this.#comparing.end();
    await this.#between.close();
    await this.sandbox.close();
  }

  /** Records everything in a number of rounds. @param apart time before a round, in ms */
  async rounds(count: number, apart: (round: number) => number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      this.clock.advance(apart(round));
      await this.#recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));
    }
  }

  compare() {
    return compareSources(this.#comparing, this.clock.now(), new AbortController().signal);
  }

  /** Returns the discrepancies. */
  discrepancies() {
    return this.#sql<DiscrepancyRow[]>`
      select check_name, subject, at, left_value, right_value, ended_at from reporting.discrepancies
      order by check_name, subject, at`;
  }

  /**
   * Records sources that lag, fail, restart and report few members, and expects that no check finds anything.
   * @returns the number of ended versions of validators and of balances
   */
  async recordHonestSources(rounds: number): Promise<{ validators: number; balances: number }> {
    await this.rounds(1, () => 1);
    const before = new Map<string, { at: number; responseText: string }>();
    let round = 0;
    this.isUnavailable = (path) => chance(`unavailable ${round} ${path}`) < 0.1;
    // One node follows the chain late: by up to 25 minutes.
    this.alter = (path, body, answer) => {
      if (!path.includes('validator-3') || !/CurrentValidators|Balance|Height|CurrentSupply/.test(body))
        return;
      const last = before.get(path + body);
      before.set(path + body, { at: this.clock.now(), responseText: JSON.stringify(answer) });
      if (last && round % 2 === 1 && this.clock.now() - last.at <= 25 * MINUTE && !body.includes('Block'))
        answer.result = JSON.parse(last.responseText).result;
    };
    this.sandbox.facts.on('node-few-members', this.clock.now() / 1000, 'validator-2');
    for (; round < rounds; round += 1) {
      if (round === rounds / 2) this.sandbox.nodes[1]?.timeline.addRestart(this.clock.now() / 1000 + 60);
      await this.rounds(1, () =>
        round % 2 === 1 ? 20 * MINUTE : (20 + Math.floor(chance(`step ${round}`) * 80)) * MINUTE,
      );
      expect((await this.compare()).failed).toEqual([]);
      expect(await this.discrepancies()).toEqual([]);
    }
    this.sandbox.facts.off('node-few-members');
    this.isUnavailable = () => false;
    this.alter = () => {};
    await this.rounds(2, () => 10 * MINUTE);
    const [versions] = await this.#sql<{ validators: number; balances: number }[]>`
      select (select count(*)::int from recorder.validators where valid_to is not null) as validators,
        (select count(*)::int from recorder.p_balances where valid_to is not null) as balances`;
    return versions ?? { validators: 0, balances: 0 };
  }
}
