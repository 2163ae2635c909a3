import type postgres from 'postgres';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { compareSources } from '../../src/checks/compare.ts';
import { catalogNames } from '../../src/configured-feeds.ts';
import { openComparing } from '../../src/db/client.ts';
import { planAll } from '../../src/recording/plan.ts';
import { configFor, Recorder, smallNetwork } from '../every-operation/support.ts';
import { withDatabase } from '../support/fixture.ts';
import { sendJson, type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';
import { chance } from './recorded-year.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NODES = ['validator-1', 'validator-2', 'validator-3'];
/** What is compared, and nothing else, is recorded. */
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

let sandbox: Sandbox;
let clock: ManualClock;
let between: UpstreamServer;
const { it, database, sql } = withDatabase({ max: 4 });
let comparing: postgres.Sql;
let recorder: Recorder;
/** Changes an answer on its way, by the path and the request's body; from the start nothing. */
let alter: (path: string, asked: string, answer: Json) => void = () => {};
/** Whether a path gives no answer now. */
let away: (path: string) => boolean = () => false;

// biome-ignore lint/suspicious/noExplicitAny: answers are changed freely
type Json = any;

beforeAll(async () => {
  ({ sandbox, clock } = await smallNetwork());
  between = await upstreamServer(async ({ method, url, headers, body }, response) => {
    if (away(url.pathname)) return response.writeHead(400).end(); // not tried again
    const said = await fetch(sandbox.url + url.pathname + url.search, {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'application/json' },
      ...(method === 'POST' ? { body } : {}),
    });
    const answer: Json = JSON.parse(await said.text());
    alter(url.pathname, body, answer);
    sendJson(response, answer, said.status);
  });
  comparing = openComparing(database.url);
  const { addresses, nodeIds } = sandbox.watch;
  const config = configFor(
    { ...sandbox, url: between.url },
    NODES.map((name) => ({ name, path: `/nodes/${name}` })),
    { watch: { addresses: addresses.slice(0, 4), nodeIds: nodeIds.slice(0, 1) }, datasets: ONLY },
  );
  recorder = new Recorder(sql, config, clock);
});
afterAll(async () => {
  await comparing?.end();
  await between?.close();
  await sandbox?.close();
});

/** Records everything, so often and so far apart (ms). */
async function rounds(count: number, apart: (round: number) => number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    clock.advance(apart(round));
    await recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));
  }
}

const compare = () => compareSources(comparing, clock.now(), new AbortController().signal);

interface Found {
  readonly check_name: string;
  readonly subject: string;
  readonly at: Date;
  readonly left_value: string;
  readonly right_value: string;
  readonly ended_at: Date | null;
}

const found = () => sql<Found[]>`
  select check_name, subject, at, left_value, right_value, ended_at from reporting.discrepancies order by check_name, subject, at`;

it('find nothing in what nodes and services say that lag, fail, restart and see few members', async () => {
  await rounds(1, () => 1);
  const before = new Map<string, { at: number; said: string }>();
  let round = 0;
  away = (path) => chance(`away ${round} ${path}`) < 0.1;
  // One node follows the chain late: by up to 25 minutes.
  alter = (path, asked, answer) => {
    if (!path.includes('validator-3') || !/CurrentValidators|Balance|Height|CurrentSupply/.test(asked))
      return;
    const last = before.get(path + asked);
    before.set(path + asked, { at: clock.now(), said: JSON.stringify(answer) });
    if (last && round % 2 === 1 && clock.now() - last.at <= 25 * MINUTE && !asked.includes('Block'))
      answer.result = JSON.parse(last.said).result;
  };
  sandbox.facts.on('node-few-members', clock.now() / 1000, 'validator-2');
  for (; round < 24; round += 1) {
    if (round === 12) sandbox.nodes[1]?.timeline.addRestart(clock.now() / 1000 + 60);
    await rounds(1, () =>
      round % 2 === 1 ? 20 * MINUTE : (20 + Math.floor(chance(`step ${round}`) * 80)) * MINUTE,
    );
    expect((await compare()).failed).toEqual([]);
    expect(await found()).toEqual([]);
  }
  sandbox.facts.off('node-few-members');
  away = () => false;
  alter = () => {};
  await rounds(2, () => 10 * MINUTE);
  const [versions] = await sql`
    select (select count(*)::int from recorder.validators where valid_to is not null) as validators,
      (select count(*)::int from recorder.p_balances where valid_to is not null) as balances`;
  expect(versions?.validators).toBeGreaterThan(10);
  expect(versions?.balances).toBeGreaterThan(0);
}, 90_000);

it('find every error that is planted, with its subject and since when', async () => {
  const validators = await sql<{ node_id: string; tx_id: string; weight: string }[]>`
    select node_id, tx_id, weight from reporting.validators where node = 'validator-1' order by node_id`;
  const [lost, heavier] = [validators[2], validators[5]];
  const [owner] = sandbox.watch.addresses;
  const [reward] = await sql<{ tx_hash: string; reward_type: string; amount_staked: string }[]>`
    select r.tx_hash, r.reward_type, r.amount_staked from reporting.pending_rewards r
    join reporting.validators v on v.tx_id = r.tx_hash where r.reward_type = 'VALIDATOR' and v.tx_id <> ${lost?.tx_id ?? ''} limit 1`;
  const [top] = await sql<{ height: number }[]>`select max(height)::int as height from reporting.p_blocks`;
  const forked = (top?.height ?? 0) + 2;
  const [proposed] = await sql<{ block_number: string }[]>`
    select block_number from reporting.proposed_blocks where blockchain_id = 'p-chain' order by block_number desc limit 1`;
  const other = '2'.repeat(49);
  let height = 0;
  let fall = 0;
  let fallen = '';
  alter = (path, asked, answer) => {
    const { result } = answer;
    if (asked.includes('platform.getCurrentValidators') && !asked.includes('nodeIDs')) {
      if (path.includes('validator-2'))
        result.validators = result.validators.filter((one: Json) => one.txID !== lost?.tx_id);
      if (path.includes('validator-3'))
        for (const one of result.validators) if (one.txID === heavier?.tx_id) one.weight = '4711';
    }
    if (
      path.includes('validator-1') &&
      asked.includes('platform.getBalance') &&
      asked.includes(String(owner))
    )
      for (const asset of Object.keys(result.balances)) result.balances[asset] = '7';
    if (path.endsWith('/x-chain/balances')) for (const one of answer.balances.unlocked) one.amount = '9';
    if (asked.includes('avm.getHeight') && path.includes('validator-1')) {
      height ||= Number(result.height);
      result.height = String(height);
    }
    if (asked.includes('platform.getCurrentSupply') && path.includes('validator-2') && fall === clock.now())
      result.height = fallen = String(Number(result.height) - 5);
    if (
      path.includes('validator-3') &&
      asked.includes('platform.getBlockByHeight') &&
      result?.block?.height === forked
    )
      result.block.id = other;
    if (path.endsWith('rewards:listPending'))
      for (const one of answer.pendingRewards)
        if (one.txHash === reward?.tx_hash && one.rewardType === reward?.reward_type) one.amountStaked = '12';
    if (path.includes('p-chain/nodes/'))
      for (const one of answer.blocks)
        if (BigInt(one.blockNumber) > BigInt(proposed?.block_number ?? 0)) one.blockHash = other;
  };
  await rounds(1, () => 30 * MINUTE);
  const first = clock.now();
  await compare();
  expect((await found()).filter(({ check_name }) => !['block_ids'].includes(check_name))).toEqual([]);
  await rounds(3, () => HOUR);
  fall = clock.now() + HOUR;
  await rounds(2, () => HOUR);
  await compare();
  const rows = await found();
  const told = rows.map(({ check_name, subject, left_value, right_value }) => {
    const about = subject.replace(/subnet_id=\S+ |asset_id=\S+ |address=\S+ /g, '');
    return `${check_name} ${about}: ${left_value} | ${right_value}`;
  });
  const heldOn = (chain: string) => sql<{ balance: string }[]>`
    select balance from ${sql(`reporting.${chain}_balances`)} where node = 'validator-2' order by address, asset_id`;
  const [held, onX] = [await heldOn('p'), await heldOn('x')];
  const blockAt = async (height: unknown) => {
    const [row] = await sql<{ id: string }[]>`
      select id from reporting.p_blocks where node = 'validator-2' and height = ${String(height)}`;
    return row?.id ?? '';
  };
  const later = rows
    .find(({ subject }) => /validator-1 height.*data/.test(subject))
    ?.subject.match(/height=(\d+)/)?.[1];
  const each = (of: (node: string) => string) => NODES.map(of);
  const owned = held.find(({ balance }) => told.some((one) => one.includes(` ${balance} | 7`)))?.balance;
  const named = (check: string, node: string, one: typeof lost, field: string) =>
    `${check} node=${node} node_id=${one?.node_id} validation=${one?.tx_id}${field}`;
  expect([...told].sort()).toEqual(
    [
      `balances blockchain_id=p-chain node=validator-1 against=data: ${owned} | 7`,
      `balances blockchain_id=p-chain node=validator-1 against=nodes: ${owned} | 7`,
      ...onX.flatMap(({ balance }) =>
        each((node) => `balances blockchain_id=x-chain node=${node} against=data: 9 | ${balance}`),
      ),
      `block_ids blockchain_id=p-chain node=validator-3 height=${forked} against=nodes: ${await blockAt(forked)} | ${other}`,
      ...(await Promise.all(
        NODES.map(
          async (node) =>
            `block_ids blockchain_id=p-chain node=${node} height=${later} against=data: ${other} | ${await blockAt(later)}`,
        ),
      )),
      `height_behind node=validator-1 blockchain_id=x-chain: ${rows.find((one) => one.check_name === 'height_behind')?.left_value} | ${height}`,
      `height_falls node=validator-2 blockchain_id=p-chain: ${rows.find((one) => one.check_name === 'height_falls')?.left_value} | ${fallen}`,
      `${named('validator_lists', 'validator-2', lost, '')}: listed, weight ${lost?.weight} | not listed`,
      ...each(
        (node) =>
          `validator_stakes node=${node} tx_hash=${reward?.tx_hash} field=stake_navax: 12 | ${reward?.amount_staked}`,
      ),
      `${named('validator_terms', 'validator-3', heavier, ' field=weight')}: ${heavier?.weight} | 4711`,
    ].sort(),
  );
  // Lists, balances and terms differ since the look that saw it first; what is about a moment has its own.
  for (const { check_name, at } of rows)
    if (/^(validator|balances)/.test(check_name)) expect(at).toEqual(new Date(first));
  expect(rows.find(({ check_name }) => check_name === 'height_falls')?.at).toEqual(new Date(fall));

  // Everybody says the truth again.
  alter = () => {};
  await rounds(1, () => HOUR);
  await compare();
  const standing = (await found())
    .filter(({ ended_at }) => ended_at === null)
    .map(({ check_name }) => check_name);
  expect(new Set(standing)).toEqual(new Set(['block_ids', 'height_falls']));
  const ended = (await found()).find(({ check_name }) => check_name === 'validator_lists')?.ended_at;
  expect(ended).toEqual(new Date(clock.now()));
}, 90_000);
