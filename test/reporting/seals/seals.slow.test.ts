import fc from 'fast-check';
import postgres from 'postgres';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { openSealConnection } from '../../../src/db/client.ts';
import { closeDays } from '../../../src/recording/close-days.ts';
import type { SealDifference } from '../../../src/reporting/seals/difference.ts';
import { withDatabase } from '../../support/fixture.ts';
import { h, SealedWorld, short } from './sealed-world.ts';
import type { Leaf, Run } from './world.ts';

const { it, database, sql } = withDatabase({
  max: 3,
  connection: { DateStyle: 'ISO', TimeZone: 'UTC' },
});
const sealed = new SealedWorld(database, sql);
const { world, seal, verifyRecord, expectWhole, inRun } = sealed;

beforeAll(() => sealed.setSessionDefaults());
beforeEach(() => world.empty());

describe('an edit by hand is found and named', () => {
  beforeEach(() => sealed.sealTwoDays());
  const avax = { node: 'n', address: 'X-a', asset_id: 'AVAX' };

  it('in a valid_to, moved within its day or to a later one', async () => {
    await sql`update recorder.x_balances set valid_to = ${h(25)}`;
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'moved', now: h(25).toISOString(), key: avax },
    ]);
    await sql`update recorder.x_balances set valid_to = ${h(2.5)}`;
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'moved', now: h(2.5).toISOString(), key: avax },
    ]);
    await seal(72);
    expect(short(await verifyRecord())).toHaveLength(1);
    // Times after the newest seal are not sealed; the sealed end is.
    await sql`update recorder.x_balances set valid_to = ${h(100)}`;
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'gone', key: avax },
    ]);
    await seal(120);
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'gone', key: avax },
    ]);
  });

  it('in a reading, by its poll: a changed, a removed and an added one', async () => {
    const [{ run_id } = { run_id: '' }] = await sql<
      { run_id: string }[]
    >`select run_id from recorder.chain_heights limit 1`;
    const reading = {
      dataset: 'chain_heights',
      of: 'row',
      key: { run_id: Number(run_id), target: `t=${run_id}` },
    };
    await sql`update recorder.chain_heights set height = 101 where chain = 'P'`;
    expect(short(await verifyRecord())).toEqual([{ ...reading, what: 'changed' }]);
    await sql`update recorder.chain_heights set height = 100 where chain = 'P'`;
    await expectWhole();
    await sql`delete from recorder.chain_heights where chain = 'P'`;
    expect(short(await verifyRecord())).toEqual([{ ...reading, what: 'changed' }]);
    await sql`delete from recorder.chain_heights`;
    expect(short(await verifyRecord())).toEqual([{ ...reading, what: 'gone' }]);
  });

  it('in a reading of a closed day, which closing alone does not change', async () => {
    const own = openSealConnection(database.url, 60_000);
    const closed = await closeDays(own, h(72).getTime(), new AbortController().signal);
    await own.end();
    expect(closed).toEqual({ packed: 3, kept: 0, failed: [] });
    const [reading] = await sql<
      { run_id: string }[]
    >`select distinct run_id from recorder.reading_observations`;
    const named = (what: string) => ({
      dataset: 'chain_heights',
      of: 'row',
      what,
      key: { run_id: Number(reading?.run_id), target: `t=${reading?.run_id}` },
    });
    await expectWhole();
    const ofP = sql`scope_id = (select scope_id from recorder.reading_scopes where request = array['n', 'P'])`;
    await sql`update recorder.reading_days set base[1] = base[1] + 1 where ${ofP}`;
    expect(short(await verifyRecord())).toEqual([named('changed')]);
    await sql`update recorder.reading_days set base[1] = base[1] - 1 where ${ofP}`;
    await expectWhole();
    await sql`delete from recorder.reading_observations where ${ofP}`;
    expect(short(await verifyRecord())).toEqual([named('changed')]);
    await sql`delete from recorder.reading_days`;
    expect(short(await verifyRecord())).toEqual([named('gone')]);
  });
});

describe('the chain', () => {
  beforeEach(() => sealed.sealChain());

  it.each<[string, () => Promise<unknown>, RegExp[]]>([
    [
      'a removed seal',
      () => sql`delete from recorder.seals where seal = 2`,
      [/^seal 3: the seals between/, /^seal 3: the statement/],
    ],
    [
      'removed hashes',
      () => sql`delete from recorder.seal_parts where seal = 3`,
      [/^seal 3: p_blocks: the hash tree is missing/],
    ],
    [
      'hashes that are moved',
      () => sql`update recorder.seal_parts set seal = 2 where seal = 3`,
      [/^seal 3: p_blocks: the hash tree/, /^seal 2: p_blocks: there are hashes/],
    ],
    [
      'a mark',
      () =>
        sql`update recorder.seal_parts set tags = overlay(tags placing '\\x00'::bytea from 1) where seal = 3`,
      [/^seal 3: p_blocks: the hash tree/],
    ],
    [
      'a form',
      () =>
        sql`update recorder.seal_forms set definition = jsonb_set(definition, '{content}', '[]') where definition ->> 'table' = 'p_blocks'`,
      [/^the form .* was changed/, /./, /./],
    ],
  ])('detects %s that was changed', async (_, change, messages) => {
    await change();
    const { broken } = await verifyRecord();
    expect(broken).toEqual(messages.map((message) => expect.stringMatching(message)));
  });
});

/** Parts of a random history. */
const event = fc.record({
  kind: fc.constantFrom('point', 'member', 'poll', 'block', 'late', 'turn', 'seal'),
  hours: fc.double({ min: 0.01, max: 20, noNaN: true }),
  which: fc.nat(2),
  value: fc.nat(3),
});
const edit = fc.record({
  table: fc.constantFrom('metric_points', 'x_balances', 'p_blocks', 'chain_heights', 'node_health'),
  what: fc.constantFrom('value', 'from', 'delete', 'add', 'to', 'unend', 'reason'),
  nth: fc.nat(30),
  hours: fc.double({ min: -30, max: 30, noNaN: true }),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

const FROM: Record<Edit['table'], string> = {
  metric_points: 'valid_from',
  x_balances: 'valid_from',
  p_blocks: 'valid_from',
  chain_heights: 'observed_at',
  node_health: 'started_at',
};
const TO: Partial<Record<Edit['table'], string>> = {
  metric_points: 'valid_to',
  x_balances: 'valid_to',
  node_health: 'ended_at',
};
const VALUE: Record<Edit['table'], string> = {
  metric_points: `value = value + 1`,
  x_balances: `utxo_ids = coalesce(utxo_ids, '[]') || '[1]'`,
  p_blocks: `id = id || ' '`,
  chain_heights: `height = height + 1`,
  node_health: `error = 'x' || coalesce(error, '')`,
};

/** Changes a row, if one exists and the constraints of the table allow it. */
async function editByHand({ table, what, nth, hours }: Edit): Promise<void> {
  const at = `'${h(hours + 60).toISOString()}'`;
  const row = `ctid = (select ctid from recorder.${table} order by ${FROM[table]}, ctid offset ${nth} % greatest((select count(*) from recorder.${table}), 1) limit 1)`;
  const copy = {
    metric_points: `(series_id, bucket_start, value, valid_from, valid_to, run_id) values (public.series_of('2', 'm${nth}', 'day'), '2026-01-01', 1, ${at}, null, 5)`,
    x_balances: `(node, address, asset_id, balance, valid_from, run_id) values ('n', 'X-b', 'a${nth}', 1, ${at}, 5)`,
    p_blocks: `(node, height, valid_from, run_id) values ('m', ${nth}, ${at}, 5)`,
    chain_heights: `(node, chain, height, observed_at, run_id) values ('m', 'P', ${nth}, ${at}, 5)`,
    node_health: `(observer, node, probe, check_name, state, started_at) values ('o', 'm${nth}', 'health', '*', 'up', ${at})`,
  };
  const to = TO[table];
  const statements: Record<Edit['what'], string | null> = {
    value: `update recorder.${table} set ${VALUE[table]} where ${row}`,
    from: `update recorder.${table} set ${FROM[table]} = ${at} where ${row}`,
    delete: `delete from recorder.${table} where ${row}`,
    add: `insert into recorder.${table} ${copy[table]}`,
    to: to ? `update recorder.${table} set ${to} = ${at} where ${row}` : null,
    unend: to ? `update recorder.${table} set ${to} = null where ${row}` : null,
    reason:
      table === 'x_balances'
        ? `update recorder.x_balances set ended_by = 'other' where valid_to is not null and ${row}`
        : null,
  };
  const statement = statements[what];
  if (statement !== null)
    await sql.unsafe(statement).catch((error: unknown) => {
      if (!(error instanceof postgres.PostgresError && error.code === '23505')) throw error;
    });
}

/** Rows on one side only: of all sealed rows, and of the current rows in the sealed time. */
function apart(sealed: readonly Leaf[], current: readonly Leaf[]): string[] {
  const count = (leaves: readonly Leaf[]) => {
    const counts = new Map<string, number>();
    for (const leaf of leaves) counts.set(JSON.stringify(leaf), (counts.get(JSON.stringify(leaf)) ?? 0) + 1);
    return counts;
  };
  const [before, after] = [count(sealed), count(current)];
  const only = (side: string, mine: Map<string, number>, others: Map<string, number>) =>
    [...mine].flatMap(([leaf, times]) => {
      const { dataset, of, at }: Leaf = JSON.parse(leaf);
      return Array.from(
        { length: Math.max(0, times - (others.get(leaf) ?? 0)) },
        () => `${side} ${dataset} ${of} ${at}`,
      );
    });
  return [...only('gone', before, after), ...only('came', after, before)].sort();
}

/** The reported differences, in the same form. */
function reportedRows(differences: readonly SealDifference[]): string[] {
  return differences
    .flatMap(({ dataset, of, what, at, now }) => {
      const side = (one: string, instant: string) => `${one} ${dataset} ${of} ${instant}`;
      if (what === 'gone') return [side('gone', at)];
      if (what === 'added') return [side('came', at)];
      return [side('gone', at), side('came', now ?? at)];
    })
    .sort();
}

describe('any history', () => {
  it('matches its seals, and exactly any edits by hand are reported', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 5, maxLength: 20 }),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        async (events, edits) => {
          await world.empty();
          let hours = 0;
          let sealedUntil = 0;
          const open: { run: Run; which: number; at: Date }[] = [];
          for (const { kind, hours: more, which, value } of events) {
            hours += more;
            const at = h(hours);
            const name = ['a', 'b', 'c'][which] ?? 'a';
            if (kind === 'point') await inRun(hours, (run) => world.point(run, name, value, at));
            if (kind === 'member')
              await inRun(hours, (run) => world.member(run, name, value === 0 ? null : value, at));
            if (kind === 'poll')
              await inRun(hours, (run) => world.poll(run, ['P', 'X', 'C'].slice(0, which + 1), value, at));
            if (kind === 'block') await inRun(hours, (run) => world.block(run, Math.round(hours * 1000), at));
            if (kind === 'turn')
              await world.turn(['up', 'down', 'unknown'][which] ?? 'up', at, h(hours + 0.005));
            if (kind === 'late') {
              const before = open.pop();
              if (before) {
                await world.point(before.run, name, value, before.at);
                await world.member(before.run, name, value === 0 ? null : value, before.at);
                await world.poll(before.run, ['P'], value, before.at);
                await world.block(before.run, Math.round(hours * 1000), before.at);
                await world.end(before.run, at);
              }
              open.push({ run: await world.begin(at), which, at });
            }
            if (kind === 'seal') {
              await seal(hours);
              sealedUntil = hours;
            }
            if (sealedUntil > 0 && (kind === 'late' || kind === 'seal')) await expectWhole();
          }
          for (const { run } of open) await world.end(run, h(hours));
          await world.heartbeat(h(hours + 1));
          await seal(hours + 1);
          await expectWhole();
          const until = h(hours + 1);
          const before = await world.leaves(until);
          expect(await verifyRecord()).toMatchObject({
            rows: before.filter(({ of }) => of === 'row').length,
            unsealed: 0,
          });
          for (const one of edits) await editByHand(one);
          const found = await verifyRecord();
          expect(reportedRows(found.differences)).toEqual(apart(before, await world.leaves(until)));
          expect(found.unsealed).toBe(0);
        },
      ),
      { numRuns: 4 },
    );
  });
});
