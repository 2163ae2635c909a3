import { bigint, jsonb, numeric, pgSchema, text, timestamp } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { z } from 'zod';
import { blockPages } from './block-pages.ts';
import { target } from './block-range.ts';
import type { OpenContender } from './contender.ts';

const instant = () => timestamp({ withTimezone: true });

/** The recorder's table, as a hand-written declaration. */
const blocksTable = pgSchema('recorder').table('proposed_blocks', {
  network: text().notNull(),
  blockchain_id: text().notNull(),
  block_number: numeric().notNull(),
  block_hash: text().notNull(),
  parent_hash: text().notNull(),
  block_timestamp: instant().notNull(),
  block_type: text().notNull(),
  tx_count: bigint({ mode: 'number' }).notNull(),
  transactions: jsonb().notNull(),
  block_size_bytes: bigint({ mode: 'number' }).notNull(),
  l1_validators_accrued_fees: numeric(),
  active_l1_validators: bigint({ mode: 'number' }),
  current_supply: numeric(),
  proposer_id: text(),
  proposer_parent_id: text(),
  proposer_node_id: text(),
  proposer_p_chain_height: numeric(),
  proposer_timestamp: instant(),
  extra: jsonb(),
  valid_from: instant().notNull(),
  run_id: bigint({ mode: 'number' }).notNull(),
});

const blockShape = z.object({
  blockNumber: z.string(),
  blockHash: z.string(),
  parentHash: z.string(),
  blockTimestamp: z.number(),
  blockType: z.string(),
  txCount: z.number(),
  transactions: z.array(z.string()),
  blockSizeBytes: z.number(),
  l1ValidatorsAccruedFees: z.number(),
  activeL1Validators: z.number(),
  currentSupply: z.string(),
  proposerDetails: z.object({
    proposerId: z.string(),
    proposerParentId: z.string(),
    proposerNodeId: z.string(),
    proposerPChainHeight: z.number(),
    proposerTimestamp: z.number(),
  }),
});

/** A naive loop: fetch a page, check it with zod, insert it with Drizzle, and repeat. */
export const openDrizzleLoop: OpenContender = async (setup) => {
  const db = drizzle(postgres(setup.databaseUrl, { onnotice: () => {} }));
  return {
    async run() {
      let rows = 0;
      for await (const blocks of blockPages(setup)) {
        const values = z.array(blockShape).parse(blocks).map(rowOf);
        await db.insert(blocksTable).values(values).onConflictDoNothing();
        rows += values.length;
      }
      return rows;
    },
  };
};

function rowOf(block: z.infer<typeof blockShape>): typeof blocksTable.$inferInsert {
  const { proposerDetails: proposer } = block;
  return {
    network: target.network,
    blockchain_id: target.blockchainId,
    block_number: block.blockNumber,
    block_hash: block.blockHash,
    parent_hash: block.parentHash,
    block_timestamp: new Date(block.blockTimestamp * 1000),
    block_type: block.blockType,
    tx_count: block.txCount,
    transactions: block.transactions,
    block_size_bytes: block.blockSizeBytes,
    l1_validators_accrued_fees: String(block.l1ValidatorsAccruedFees),
    active_l1_validators: block.activeL1Validators,
    current_supply: block.currentSupply,
    proposer_id: proposer.proposerId,
    proposer_parent_id: proposer.proposerParentId,
    proposer_node_id: proposer.proposerNodeId,
    proposer_p_chain_height: String(proposer.proposerPChainHeight),
    proposer_timestamp: new Date(proposer.proposerTimestamp * 1000),
    valid_from: new Date(),
    run_id: 1,
  };
}
