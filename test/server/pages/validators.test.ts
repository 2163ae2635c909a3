import { afterAll, beforeAll, describe, expect } from 'vitest';
import { PRIMARY_NETWORK } from '../../../src/datasets/node/current-validators.ts';
import { avaxOfNavax } from '../../../src/server/pages/validators/charts.tsx';
import { withPages } from '../../support/fixture.ts';
import { type PageServer, sendRequest as requestAddress, servePagesOf } from '../../support/page-server.ts';
import { textOf } from './html.ts';
import { day, hour, write } from './node-states.ts';

const NOW = Math.floor(Date.now() / hour) * hour;
const OWN = 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg';
const WATCHED = 'NodeID-MFrZFVCXPv5iCn6M9K6XduxGTYp891xXZ';
const OTHER = 'NodeID-NFBbbJ4qCmNaCzeW7sxErhvWqvEQMnYcN';

const { it, database, sql, sendRequest } = withPages();

it.each([
  ['0', '0'],
  ['1', '0.000000001'],
  ['1097428000000001', '1097428.000000001'],
  ['2000000000000', '2000'],
  ['-1500000000', '-1.5'],
])('%s nAVAX are %s AVAX', (navax, avax) => {
  expect(avaxOfNavax(navax)).toBe(avax);
});

const record = async () => {
  const at = (ms: number) => new Date(NOW + ms);
  await sql`
    insert into recorder.targets (source, target_key, target, recorder)
    values ('proposed-blocks', ${`nodeId=${WATCHED}`}, ${{ nodeId: WATCHED }}, 'recorder'),
      ('proposed-blocks', ${`nodeId=${OTHER}`}, ${{ nodeId: OTHER }}, 'recorder')`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
    values ('proposed-blocks', ${`nodeId=${WATCHED}`}, 'proposed_blocks', 60000, true, now()),
      ('proposed-blocks', ${`nodeId=${OTHER}`}, 'proposed_blocks', 60000, false, now())`;
  await sql`
    insert into recorder.node_identity (node, node_id, version, valid_from, run_id)
    values ('mine', ${OWN}, 'avalanchego/1.9.4', ${at(-day)}, 1)`;
  for (const [nodeId, stake, end] of [
    [OWN, 2000, 10],
    [WATCHED, 1_000_000, 100],
    [OTHER, 5_000_000, 100],
  ] as const)
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, tx_id, end_time, weight, stake_navax, delegator_count,
        delegator_weight, potential_reward, accrued_delegatee_reward, valid_from, run_id)
      values ('mine', ${PRIMARY_NETWORK}, ${nodeId}, ${at(-90 * day)}, 'tx', ${at(end * day)}, 1, ${stake}::numeric * 1000000000, 2,
        500::numeric * 1000000000, 7500000000, 500000000, ${at(-day)}, 1)`;
  await sql`
    insert into recorder.peers (node, node_id, version, valid_from, run_id)
    values ('mine', ${WATCHED}, 'avalanchego/1.10.0', ${at(-day)}, 1), ('mine', ${OTHER}, 'avalanchego/1.10.0', ${at(-day)}, 1)`;
  await write(
    sql,
    [
      {
        observer: 'recorder',
        node: 'mine',
        states: [
          [NOW - 4 * hour, 'up'],
          [NOW - hour, 'down'],
        ],
        absences: [],
      },
    ],
    NOW,
  );
};

describe('without a validator', () => {
  it.each(['/', '/validators'])('%s explains how to configure one', async (path) => {
    expect((await sendRequest(path)).body).toContain('add node ids to watch.nodeIds of recorder.yaml');
  });
});

describe('with validators', () => {
  beforeAll(record);

  it('the function has a row for each configured node and watched id, and for no other validator', async () => {
    const rows = await sql`
      select node_id, node, state, node_uptime::float8, stake_avax::float8, delegated_avax::float8, delegations::int,
        free_capacity_avax::float8, reward_expected_avax::float8, version, network_version, is_outdated, l1_validations::int
      from reporting.my_validators()`;
    expect([...rows]).toEqual([
      {
        ...{
          node_id: OWN,
          node: 'mine',
          state: 'down',
          node_uptime: 0.75,
          stake_avax: 2000,
          delegated_avax: 500,
        },
        ...{
          delegations: 2,
          free_capacity_avax: 7500,
          reward_expected_avax: 8,
          version: 'avalanchego/1.9.4',
        },
        ...{ network_version: 'avalanchego/1.10.0', is_outdated: true, l1_validations: 0 },
      },
      {
        ...{ node_id: WATCHED, node: null, state: null, node_uptime: null, stake_avax: 1_000_000 },
        ...{ delegated_avax: 500, delegations: 2, free_capacity_avax: 1_999_500, reward_expected_avax: 8 },
        ...{ version: 'avalanchego/1.10.0', network_version: 'avalanchego/1.10.0' },
        ...{ is_outdated: false, l1_validations: 0 },
      },
    ]);
  });

  it('counts the rewards of a stake, also if the reward transaction does not name the validator', async () => {
    await sql`
      insert into recorder.targets (source, target_key, target, recorder) values ('staking', 'a', '{"addresses": "P-a"}', 'recorder')`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
      values ('staking', 'a', 'staking_transactions', 60000, true, now(), ${new Date(NOW - day)})`;
    const utxo = {
      utxoId: 'u',
      utxoType: 'TRANSFER',
      rewardType: 'VALIDATOR',
      amount: '3000000000',
      addresses: ['a'],
    };
    for (const one of [
      {
        tx_hash: 'stake',
        tx_type: 'AddPermissionlessValidatorTx',
        node_id: OWN,
        estimated_reward: '3000000000',
      },
      { tx_hash: 'reward', tx_type: 'RewardValidatorTx', staking_tx_hash: 'stake', emitted_utxos: [utxo] },
    ])
      await sql`insert into recorder.staking_transactions ${sql({
        ...{ network: 'mainnet', block_timestamp: new Date(NOW - hour), block_number: 1, block_hash: 'h' },
        ...{ valid_from: new Date(NOW - hour), run_id: 1, ...one },
      })}`;
    const [own] =
      await sql`select rewards_received_avax::float8 from reporting.my_validators(node_id => ${OWN})`;
    expect(own).toEqual({ rewards_received_avax: 3 });
  });

  it('the state at a moment without an observer is unknown, and null before the first probe', async () => {
    const statesAt = (ms: number) => sql`
      select state from reporting.my_validators(as_of => ${new Date(NOW + ms)}) where node = 'mine'`;
    await sql`
      insert into recorder.targets (source, target_key, target, recorder) values ('validators', 'node=mine', '{"node": "mine"}', 'recorder')`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
      values ('validators', 'node=mine', 'validators', 60000, true, now(), ${new Date(NOW - day)})`;
    await sql`
      insert into recorder.health_absences (observer, started_at, ended_at, reason)
      values ('recorder', ${new Date(NOW - 3 * hour)}, ${new Date(NOW - 2 * hour)}, 'the recorder was off')`;
    expect(await statesAt(-3.5 * hour)).toEqual([{ state: 'up' }]);
    expect(await statesAt(-2.5 * hour)).toEqual([{ state: 'unknown' }]);
    expect(await statesAt(-5 * hour)).toEqual([{ state: null }]);
    await sql`delete from recorder.health_absences`;
  });

  it('refuses a moment before the record', async () => {
    await expect(sql`select from reporting.my_validators(as_of => '2020-01-01')`).rejects.toMatchObject({
      code: '22023',
    });
  });
});

describe('the pages with validators', () => {
  let server: PageServer;
  // Another server: the first one caches its results for some seconds.
  beforeAll(async () => {
    server = await servePagesOf(database.url);
  });
  afterAll(() => server.close());
  const page = (path: string) => requestAddress(server.address + path);

  it('have the minimum uptimes of the configuration, as does the saved query in the API', async () => {
    const configured = await servePagesOf(database.url, {
      rewards: { minUptime: 95, minUptimeAfterUpgrade: 97 },
    });
    const threshold = async (path: string) =>
      (await requestAddress(`${configured.address}/api/v1/${path}columns=threshold&node_id=${OWN}`)).body;
    expect(await threshold('questions/my-validators.csv?')).toBe('threshold\r\n95\r\n');
    expect(await threshold('questions/my-validators.csv?threshold=70&')).toBe('threshold\r\n70\r\n');
    expect(await threshold('views/my_validators.csv?')).toBe('threshold\r\n80\r\n');
    await configured.close();
  });

  it('the overview shows them first', async () => {
    const { body } = await page('/');
    expect(body.indexOf('id="validators"')).toBeGreaterThan(0);
    expect(body.indexOf('id="validators"')).toBeLessThan(body.indexOf('id="nodes"'));
    expect(body).toMatch(new RegExp(`href="/validators/${OWN}"[^>]*>mine</a>`));
    expect(body).not.toContain(OTHER);
  });

  it('the list has the columns of each', async () => {
    const { code, body } = await page('/validators');
    expect(code).toBe(200);
    expect(body).toMatch(/75\.000 %.*7\u202f500<.*below 1\.10\.0/s);
    expect(body).toMatch(/<span class="state bad">down<\/span>/);
  });

  it('one of them has charts, each with ids of its own', async () => {
    const { code, body } = await page(`/validators/${OWN}`);
    expect(code).toBe(200);
    expect(body).toContain('<h1>mine</h1>');
    expect(body).toContain('id="chart-of-node_validators"');
    expect(body).toContain('Stake and delegations, in AVAX');
    const chart = /<section aria-labelledby="chart-of-node_validators">.*?<\/section>/s.exec(body)?.[0] ?? '';
    expect(chart).toMatch(/data-points="[^"]*=2000[" ]/);
    expect(textOf(chart)).toMatch(/delegations.*stake|stake.*delegations/s);
    expect(chart).not.toMatch(/>[^<]*(stake_navax|delegator_weight)/);
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('another validator has none', async () => {
    expect((await page(`/validators/${OTHER}`)).code).toBe(404);
  });
});
