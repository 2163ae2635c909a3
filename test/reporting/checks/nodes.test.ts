import { afterAll, beforeAll, expect } from 'vitest';
import { withDatabase } from '../../support/fixture.ts';
import { ComparedSources, HOUR, type Json, MINUTE, NODES } from './compared-sources.ts';

const { it, database, sql } = withDatabase({ max: 4 });
let sources: ComparedSources;
beforeAll(async () => {
  sources = await ComparedSources.open(database.url, sql);
});
afterAll(() => sources?.close());

it('find nothing in consistent responses of nodes and services', async () => {
  await sources.rounds(1, () => 1);
  await sources.rounds(2, () => 10 * MINUTE);
  expect((await sources.compare()).failed).toEqual([]);
  expect(await sources.discrepancies()).toEqual([]);
});

it('find every planted error, with its subject and its start', async () => {
  const { sandbox, clock } = sources;
  const validators = await sql<{ node_id: string; tx_id: string; weight: string }[]>`
    select node_id, tx_id, weight from reporting.node_validators where node = 'validator-1' order by node_id`;
  const [lost, heavier] = [validators[2], validators[5]];
  const [owner] = sandbox.watch.addresses;
  const [reward] = await sql<{ tx_hash: string; reward_type: string; amount_staked: string }[]>`
    select r.tx_hash, r.reward_type, r.amount_staked from reporting.pending_rewards r
    join reporting.node_validators v on v.tx_id = r.tx_hash where r.reward_type = 'VALIDATOR' and v.tx_id <> ${lost?.tx_id ?? ''} limit 1`;
  const [top] = await sql<
    { height: number }[]
  >`select max(height)::int as height from reporting.node_p_blocks`;
  // The newest block of validator-3 at its next reading.
  let forked = 0;
  const [proposed] = await sql<{ block_number: string }[]>`
    select block_number from reporting.proposed_blocks where blockchain_id = 'p-chain' order by block_number desc limit 1`;
  const other = '2'.repeat(49);
  let height = 0;
  let fall = 0;
  let fallen = '';
  let reached = '';
  sources.alter = (path, body, answer) => {
    const { result } = answer;
    if (body.includes('platform.getCurrentValidators') && !body.includes('nodeIDs')) {
      if (path.includes('validator-2'))
        result.validators = result.validators.filter((one: Json) => one.txID !== lost?.tx_id);
      if (path.includes('validator-3'))
        for (const one of result.validators) if (one.txID === heavier?.tx_id) one.weight = '4711';
    }
    if (path.includes('validator-1') && body.includes('platform.getBalance') && body.includes(String(owner)))
      for (const asset of Object.keys(result.balances)) result.balances[asset] = '7';
    if (path.endsWith('/x-chain/balances')) for (const one of answer.balances.unlocked) one.amount = '9';
    if (body.includes('avm.getHeight') && path.includes('validator-1')) {
      height ||= Number(result.height);
      result.height = String(height);
    }
    if (body.includes('platform.getCurrentSupply') && path.includes('validator-2')) {
      if (fall === clock.now()) result.height = fallen = String(Number(reached) - 1);
      reached = result.height;
    }
    if (path.includes('validator-3') && body.includes('platform.getHeight'))
      forked ||= Number(result?.height ?? 0);
    if (
      path.includes('validator-3') &&
      body.includes('platform.getBlockByHeight') &&
      forked > 0 &&
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
  await sources.rounds(1, () => 30 * MINUTE);
  const first = clock.now();
  await sources.compare();
  expect(
    (await sources.discrepancies()).filter(({ check_name }) => !['block_ids'].includes(check_name)),
  ).toEqual([]);
  await sources.rounds(3, () => HOUR);
  fall = clock.now() + HOUR;
  await sources.rounds(2, () => HOUR);
  await sources.compare();
  const rows = await sources.discrepancies();
  const descriptions = rows.map(({ check_name, subject, left_value, right_value }) => {
    const about = subject.replace(/subnet_id=\S+ |asset_id=\S+ |address=\S+ /g, '');
    return `${check_name} ${about}: ${left_value} | ${right_value}`;
  });
  const balancesOn = (chain: string) => sql<{ balance: string }[]>`
    select balance from ${sql(`reporting.${chain}_balances`)} where node = 'validator-2' order by address, asset_id`;
  const [onP, onX] = [await balancesOn('p'), await balancesOn('x')];
  const blockAt = async (height: unknown) => {
    const [row] = await sql<{ id: string }[]>`
      select id from reporting.node_p_blocks where node = 'validator-2' and height = ${String(height)}`;
    return row?.id ?? '';
  };
  const later = rows
    .find(({ subject }) => /validator-1 height.*data/.test(subject))
    ?.subject.match(/height=(\d+)/)?.[1];
  const each = (of: (node: string) => string) => NODES.map(of);
  const owned = onP.find(({ balance }) =>
    descriptions.some((one) => one.includes(` ${balance} | 7`)),
  )?.balance;
  const named = (check: string, node: string, one: typeof lost, field: string) =>
    `${check} node=${node} node_id=${one?.node_id} validation=${one?.tx_id}${field}`;
  expect([...descriptions].sort()).toEqual(
    [
      `balances blockchain_id=p-chain node=validator-1 against=data: ${owned} | 7`,
      `balances blockchain_id=p-chain node=validator-1 against=nodes: ${owned} | 7`,
      ...onX.flatMap(({ balance }) =>
        each((node) => `balances blockchain_id=x-chain node=${node} against=data: 9 | ${balance}`),
      ),
      `block_ids blockchain_id=p-chain node=validator-3 height=${forked} against=nodes: ${await blockAt(forked)} | ${other}`,
      // Blocks of validator-3 that do not continue the planted one are not recorded.
      ...(await Promise.all(
        NODES.filter((node) => node !== 'validator-3').map(
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
  expect(forked).toBeGreaterThan(top?.height ?? 0);
  const [newest] = await sql<{ height: number }[]>`
    select max(height)::int as height from reporting.node_p_blocks where node = 'validator-3'`;
  expect(newest?.height).toBe(forked);
  // Lists, balances and terms differ since the poll that detected it first; a moment has its own time.
  for (const { check_name, at } of rows)
    if (/^(validator|balances)/.test(check_name)) expect(at).toEqual(new Date(first));
  expect(rows.find(({ check_name }) => check_name === 'height_falls')?.at).toEqual(new Date(fall));

  // All sources are correct again.
  sources.alter = () => {};
  await sources.rounds(1, () => HOUR);
  await sources.compare();
  const open = (await sources.discrepancies())
    .filter(({ ended_at }) => ended_at === null)
    .map(({ check_name }) => check_name);
  expect(new Set(open)).toEqual(new Set(['block_ids', 'height_falls']));
  const ended = (await sources.discrepancies()).find(
    ({ check_name }) => check_name === 'validator_lists',
  )?.ended_at;
  expect(ended).toEqual(new Date(clock.now()));
}, 60_000);
