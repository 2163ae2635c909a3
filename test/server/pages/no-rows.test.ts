import { expect } from 'vitest';
import { withPages } from '../../support/fixture.ts';

const { it, sql, sendRequest } = withPages();

const addTarget = (dataset: string, more: { error?: string; success?: Date } = {}) => sql`
  with target as (
    insert into recorder.targets (source, target_key, target, recorder) values (${dataset}, 'node=n', ${{ node: 'n' }}, 'recorder'))
  insert into recorder.target_datasets
    (source, target_key, dataset, every_ms, active, requested_since, last_error, failures, last_success_at)
  values (${dataset}, 'node=n', ${dataset}, 600000, true, now(), ${more.error ?? null}, ${more.error ? 1 : 0}, ${more.success ?? null})`;
const page = async (dataset: string) => (await sendRequest(`/datasets/${dataset}`)).body;

it('a dataset without rows shows why, and when they are expected', async () => {
  await addTarget('validators');
  await addTarget('peers', { error: 'connect ECONNREFUSED' });
  await addTarget('proposals', { success: new Date(Date.now() - 150 * 60_000) });
  expect(await page('validators')).toContain('the first polls of 1 target are in progress');
  expect(await page('validators')).toContain('recorded every 10 min');
  expect(await page('peers')).toContain('1 target failed and will be retried. Error: connect ECONNREFUSED');
  expect(await page('proposals')).toContain('the upstream returned none so far. Last poll 2 h ago');
  await sql`update recorder.target_datasets set rows_written = 1 where dataset = 'proposals'`;
  expect(await page('proposals')).toContain(
    'all recorded rows have ended or were removed. Last poll 2 h ago',
  );
  await addTarget('evm_transactions', { success: new Date() });
  await sql`update recorder.target_datasets set rows_written = 1 where dataset = 'evm_transactions'`;
  expect(await page('evm_transactions_erc1155_transfers')).toContain('No rows. Last poll');
  expect(await page('subnets')).toContain('the configuration does not record this dataset');
  expect((await sendRequest('/datasets/node_validators?node=x')).body).toContain('No rows.');
});

it('the discrepancies show whether anything was compared', async () => {
  expect((await sendRequest('/discrepancies')).body).toContain('No comparison has run yet');
  await sql`insert into recorder.check_runs (scope, failed_since, error) values ('nodes', now(), 'no answer')`;
  const { body: failed } = await sendRequest('/discrepancies');
  expect(failed).toMatch(/The comparison of the nodes failed .*: no answer/s);
  expect(failed).not.toMatch(/No comparison has run yet|all compared values agree/);
  await sql`update recorder.check_runs set checked_at = now(), duration_ms = 1, failed_since = null, error = null`;
  expect((await sendRequest('/discrepancies')).body).toContain(
    'No discrepancies: all compared values agree.',
  );
  await sql`
    insert into recorder.check_runs (scope, failed_since, error) values ('43114', now(), 'no answer'), ('43115', now(), 'late')`;
  const { body } = await sendRequest('/discrepancies');
  expect(body).toMatch(
    /The comparison of the metrics of chain 43114 failed .*: no answer.*1 more comparisons failed/s,
  );
  expect(body).not.toContain('all compared values agree');
});
