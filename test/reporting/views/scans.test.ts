import { beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { withDatabase } from '../../support/fixture.ts';
import { stepsIn } from '../../support/plan-steps.ts';

const COUNT = 500;
const { it, sql } = withDatabase();

beforeAll(async () => {
  await sql`
    insert into recorder.blockchains (network, blockchain_id, subnet_id, evm_chain_id, create_block_timestamp, valid_from, run_id)
    select 'mainnet', 'b' || n, 's' || n, n, now(), now() - interval '1 day', 1 from generate_series(1, ${COUNT}::int) n`;
  await sql`
    insert into recorder.native_balances (chain_id, address, symbol, balance, valid_from, run_id)
    select 'of no chain', 'a' || n, 'T', 1, now() - interval '1 day', 1 from generate_series(1, ${COUNT}::int) n`;
  // Each subnet changed its owners once.
  await sql`
    insert into recorder.subnets (network, subnet_id, create_block_index, create_block_timestamp, subnet_ownership_info_threshold,
      subnet_ownership_info_addresses, valid_from, valid_to, ended_by, run_id)
    select 'mainnet', 's' || n, n, now(), 1, jsonb_build_array('owner ' || version), now() - (3 - version) * interval '1 day',
      case version when 1 then now() - interval '1 day' end, case version when 1 then 'changed' end, 1
    from generate_series(1, ${COUNT}::int) n, generate_series(1, 2) version`;
  await sql`
    insert into recorder.staking_transactions (network, tx_hash, tx_type, block_timestamp, valid_from, run_id)
    select 'mainnet', 't' || n, 'AddDelegatorTx', now() - interval '36 hours', now() - interval '1 day', 1
    from generate_series(1, ${COUNT}::int) n`;
  await sql`
    insert into recorder.targets (source, target_key, target) values ('s', 'subnets', '{}')`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('s', 'subnets', 'subnets', 3600000, true, now(), now() - interval '3 days')`;
  await sql.unsafe('vacuum analyze');
});

it.each([
  ['native_balances', 'reporting.chains', COUNT],
  ['staking_transactions', "reporting.l1_changes(now() - interval '36 hours', now())", COUNT],
])('reads %s a few times for all rows of %s, not once per row', async (table, relation, expected) => {
  const rows = await sql.unsafe<{ 'QUERY PLAN': unknown }[]>(
    `explain (analyze, timing off, format json) select * from ${relation}`,
  );
  const steps = z.tuple([z.unknown()]).parse(rows[0]?.['QUERY PLAN']).flatMap(stepsIn);
  const [found] = await sql.unsafe<{ count: number }[]>(`select count(*)::int from ${relation}`);
  expect(found?.count).toBe(expected);
  const read = steps.filter((step) => step.table === table).reduce((sum, step) => sum + step.rows, 0);
  expect(read).toBeLessThanOrEqual(4 * COUNT);
});
