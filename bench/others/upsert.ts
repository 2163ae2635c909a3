import { sql as fragment } from 'drizzle-orm';
import { boolean, integer, jsonb, numeric, pgSchema, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { z } from 'zod';
import type { Target } from '../../src/datasets/contract.ts';
import { addressIn, listWorks } from '../contenders/lists.ts';
import { plainPages } from '../contenders/plain-client.ts';
import { VALIDATORS } from '../service/list-responses.ts';

/** The polled lists, one per target, and the number of validators in each. */
export const polledLists = {
  dataset: listWorks.validators.dataset,
  targets: listWorks.validators.targets(0).slice(0, 4),
  validators: VALIDATORS,
};

/** A naive table of validators without their history: one row each. */
const validators = pgSchema('bench').table(
  'validators',
  {
    node: text().notNull(),
    tx_id: text().notNull(),
    node_id: text().notNull(),
    start_time: timestamp({ withTimezone: true }).notNull(),
    end_time: timestamp({ withTimezone: true }).notNull(),
    weight: numeric().notNull(),
    validation_reward_owner: jsonb().notNull(),
    delegation_reward_owner: jsonb().notNull(),
    potential_reward: numeric().notNull(),
    accrued_delegatee_reward: numeric().notNull(),
    delegation_fee: numeric().notNull(),
    connected: boolean().notNull(),
    signer: jsonb().notNull(),
    delegator_count: integer().notNull(),
    delegator_weight: numeric().notNull(),
  },
  (table) => [primaryKey({ columns: [table.node, table.tx_id] })],
);

const owner = z.object({ locktime: z.string(), threshold: z.string(), addresses: z.array(z.string()) });
const answer = z.object({
  validators: z.array(
    z.object({
      txID: z.string(),
      startTime: z.string(),
      endTime: z.string(),
      nodeID: z.string(),
      weight: z.string(),
      validationRewardOwner: owner,
      delegationRewardOwner: owner,
      potentialReward: z.string(),
      accruedDelegateeReward: z.string(),
      delegationFee: z.string(),
      connected: z.boolean(),
      signer: z.object({ publicKey: z.string(), proofOfPossession: z.string() }),
      delegatorCount: z.string(),
      delegatorWeight: z.string(),
    }),
  ),
});

/** The table, as a hand-written declaration. */
export const CREATE_TABLE = `create schema if not exists bench;
create table bench.validators (node text, tx_id text, node_id text not null, start_time timestamptz not null, end_time timestamptz not null,
  weight numeric not null, validation_reward_owner jsonb not null, delegation_reward_owner jsonb not null, potential_reward numeric not null,
  accrued_delegatee_reward numeric not null, delegation_fee numeric not null, connected boolean not null, signer jsonb not null,
  delegator_count int not null, delegator_weight numeric not null, primary key (node, tx_id))`;

/** The columns of an update, and whether one of them differs: a careful author skips unchanged rows. */
const changing = Object.keys(validators).filter((name) => !['node', 'tx_id', 'enableRLS'].includes(name));
const excluded = Object.fromEntries(changing.map((name) => [name, fragment.raw(`excluded.${name}`)]));
const differs = fragment.raw(
  `(${changing.map((name) => `validators.${name}`).join(', ')}) is distinct from (${changing.map((name) => `excluded.${name}`).join(', ')})`,
);

/** A naive poll: fetch a list, check it with zod, and upsert the differences. It keeps no history. */
export function openUpsert(databaseUrl: string, serviceUrl: string, connections: number) {
  const db = drizzle(postgres(databaseUrl, { max: connections, onnotice: () => {} }));
  return async (target: Target, round: number): Promise<void> => {
    for await (const { body } of plainPages(listWorks.validators, [target], addressIn(serviceUrl, round)))
      await db
        .insert(validators)
        .values(answer.parse(body).validators.map((one) => rowOf(target.node ?? '', one)))
        .onConflictDoUpdate({
          target: [validators.node, validators.tx_id],
          set: excluded,
          setWhere: differs,
        });
  };
}

function rowOf(
  node: string,
  one: z.infer<typeof answer>['validators'][number],
): typeof validators.$inferInsert {
  return {
    node,
    tx_id: one.txID,
    node_id: one.nodeID,
    start_time: new Date(Number(one.startTime) * 1000),
    end_time: new Date(Number(one.endTime) * 1000),
    weight: one.weight,
    validation_reward_owner: one.validationRewardOwner,
    delegation_reward_owner: one.delegationRewardOwner,
    potential_reward: one.potentialReward,
    accrued_delegatee_reward: one.accruedDelegateeReward,
    delegation_fee: one.delegationFee,
    connected: one.connected,
    signer: one.signer,
    delegator_count: Number(one.delegatorCount),
    delegator_weight: one.delegatorWeight,
  };
}
