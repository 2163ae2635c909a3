import { describe, expect, it } from 'vitest';
import { createScope } from '../../src/app/configured-feeds.ts';
import type { RunResult } from '../../src/recording/context.ts';
import { planAll } from '../../src/recording/plan.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { rowsOf } from '../support/rows.ts';
import { withRecordings } from './recordings.ts';
import { INSTANT } from './support.ts';

const world = withRecordings(['of 7']);
const { recordingOf } = world;

describe('a recording on demand', () => {
  /** Records a target of KEY=VALUE pairs, as `record DATASET --target KEY=VALUE` does. */
  async function recordOnDemand(dataset: string, pairs: Record<string, string>): Promise<RunResult> {
    const { recorder } = recordingOf('of 7');
    const feed = recorder.feedOf(dataset);
    const target = feed.source.demand?.(pairs, createScope(recorder.config));
    if (!target) throw new Error(`${dataset} is not recorded on demand`);
    const [run] = await recorder.run(
      feed,
      await recorder.planJobs(feed, (_, states) => planAll(feed, [target], states, INSTANT)),
    );
    if (!run) throw new Error('no runs');
    return run;
  }
  const sql = () => recordingOf('of 7').recorder.sql;
  const lastBody = (operation: string) =>
    JSON.parse(world.sandbox.ledger.calls({ operation }).at(-1)?.body ?? 'null');

  it('stores signatures of a transaction and of a message', async () => {
    const block = world.sandbox.network.chain('p-chain');
    const txHash = block ? world.sandbox.network.blocks(block).transactionId(40) : '';
    expect(await recordOnDemand('aggregated_signatures', { txHash })).toMatchObject({
      status: 'done',
      units: 20,
    });
    const ofTransaction = lastBody('getAggregatedSignatures').signedMessage;
    const message = { message: '0xAB01', quorumPercentage: '60', quorumPercentageBuffer: '40' };
    expect(await recordOnDemand('aggregated_signatures', message)).toMatchObject({
      status: 'done',
      units: 20,
    });
    const ofMessage = lastBody('aggregateSignatures').signedMessage;
    const again = await recordOnDemand('aggregated_signatures', { ...message, message: 'ab01' });
    expect(again).toMatchObject({ status: 'done', rowsWritten: [0] });
    const rows = await sql()`
      select network, signed_message, tx_hash, message, quorum_percentage::text as quorum,
        quorum_percentage_buffer::text as buffer
      from reporting.aggregated_signatures order by tx_hash`;
    expect([...rows]).toEqual([
      {
        network: 'sandbox',
        signed_message: ofTransaction,
        tx_hash: txHash,
        message: null,
        quorum: null,
        buffer: null,
      },
      {
        network: 'sandbox',
        signed_message: ofMessage,
        tx_hash: null,
        message: '0xab01',
        quorum: '60',
        buffer: '40',
      },
    ]);
  });

  it('stores a single token, without a conclusion about others', async () => {
    const [kept] = await sql()<{ chain: string; collection: string; token: string; count: number }[]>`
      select chain_id as chain, collection, max(token_id)::text as token, count(*)::int as count
      from reporting.nft_tokens where erc_type = 'ERC-721' group by 1, 2 order by count(*) desc limit 1`;
    const pairs = {
      chainId: kept?.chain ?? '',
      collection: kept?.collection ?? '',
      tokenId: kept?.token ?? '',
    };
    // One token is no complete list: the run is incomplete.
    expect(await recordOnDemand('nft_tokens', pairs)).toMatchObject({
      status: 'partial',
      items: 1,
      rowsWritten: [0],
    });
    expect(lastBody('getTokenDetails').tokenId).toBe(kept?.token);
    // A collection that is not watched has that one.
    await sql()`delete from recorder.nft_tokens where collection = lower(${pairs.collection})`;
    expect(await recordOnDemand('nft_tokens', pairs)).toMatchObject({ status: 'partial', rowsWritten: [1] });
    const [row] = await sql()`
      select token_id::text as id, owner_address as owner, name from reporting.nft_tokens
      where collection = lower(${pairs.collection})`;
    const { tokenId, ownerAddress, name } = lastBody('getTokenDetails');
    expect(row).toEqual({ id: tokenId, owner: ownerAddress?.toLowerCase() ?? null, name });
  });

  it.each([
    ['p_blocks', 'p-chain', 'platform.getBlock'],
    ['x_blocks', 'x-chain', 'avm.getBlock'],
  ])('stores a block by its id: %s', async (dataset, alias, operation) => {
    const chain = world.sandbox.network.chain(alias);
    const blockId = chain ? world.sandbox.network.blocks(chain).hash(1234) : '';
    expect(await recordOnDemand(dataset, { node: 'validator-1', blockId })).toMatchObject({ status: 'done' });
    const { block } = lastBody(operation).result;
    const [row] = await sql()`
      select height::text, id, parent_id, extract(epoch from time)::int as time
      from reporting.${sql()(`node_${dataset}`)} where node = 'validator-1' and id = ${blockId}`;
    expect(row).toEqual({ height: '1234', id: blockId, parent_id: block.parentID, time: block.time });
    expect(await recordOnDemand(dataset, { node: 'validator-1', blockId })).toMatchObject({ status: 'done' });
    expect(await sql()`select 1 from reporting.${sql()(`node_${dataset}`)} where height = 1234`).toHaveLength(
      1,
    );
  });

  it('stores a transaction of the X-chain by its id, with its status', async () => {
    const chain = world.sandbox.network.chain('x-chain');
    const blocks = chain ? world.sandbox.network.blocks(chain) : undefined;
    const number = [2000, 2001, 2002, 2003].flatMap((height) => blocks?.transactionNumbers(height) ?? [])[0];
    const txId = blocks?.transactionId(number ?? 0) ?? '';
    const run = await recordOnDemand('x_transactions', { node: 'observer-1', txId });
    expect(run).toMatchObject({ status: 'done', rowsWritten: [0, 1] });
    const { tx } = lastBody('avm.getTx').result;
    const [row] = await sql()`
      select status, block_height, unsigned_tx_memo as memo, unsigned_tx_blockchain_id as chain
      from reporting.node_x_transactions where node = 'observer-1' and tx_id = ${txId}`;
    expect(row).toEqual({
      status: 'Accepted',
      block_height: null,
      memo: tx.unsignedTx.memo,
      chain: tx.unsignedTx.blockchainID,
    });
  });
});

it('stores no row of the sandbox with the name of a public network', async () => {
  const { sql } = recordingOf('of 7').recorder;
  for (const name of [
    ...recorded.map((dataset) => rowsOf(dataset.name)),
    'reporting.freshness',
    'reporting.runs',
  ])
    expect({
      name,
      rows: [
        ...(await sql.unsafe(
          `select * from ${name} r where r::text ~* '\\m(mainnet|fuji|testnet)\\M' limit 1`,
        )),
      ],
    }).toEqual({ name, rows: [] });
});

it('leaves rows in every dataset from every operation', async () => {
  const { sql } = recordingOf('of 7').recorder;
  const rows = await Promise.all(
    recorded.map(async ({ name, operations }) => {
      const [found] = await sql<
        { count: number }[]
      >`select count(*)::int as count from ${sql.unsafe(rowsOf(name))} r`;
      return { name, operations, count: found?.count ?? 0 };
    }),
  );
  const lines = rows
    .flatMap(({ name, operations, count }) =>
      operations.map((operation) => `| \`${operation}\` | ${name} | ${count} |`),
    )
    .sort();
  console.info(['| operation | dataset | rows |', '| --- | --- | --- |', ...lines].join('\n'));
  expect(rows.filter(({ count }) => count === 0)).toEqual([]);
});
