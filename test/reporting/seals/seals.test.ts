import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify as verifySignature,
} from 'node:crypto';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { xBalances } from '../../../src/datasets/node/x-balances.ts';
import { LOCKS, withRowLock } from '../../../src/db/row-lock.ts';
import { sealDays, sealUntil } from '../../../src/reporting/seals/seal.ts';
import { withDatabase } from '../../support/fixture.ts';
import { recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';
import { h, hour, oneOfEachKind, SealedWorld, short } from './sealed-world.ts';

const { it, database, sql } = withDatabase({
  max: 3,
  connection: { DateStyle: 'ISO', TimeZone: 'UTC' },
});
const sealed = new SealedWorld(database, sql, oneOfEachKind);
const { world, clock, sealing, seal, verifyRecord, expectWhole, inRun } = sealed;

beforeAll(() => sealed.setSessionDefaults());
beforeEach(() => world.empty());

describe('an edit by hand is found and named', () => {
  beforeEach(() => sealed.sealTwoDays());
  const avax = { node: 'n', address: 'X-a', asset_id: 'AVAX' };

  it('in a null that becomes an empty text, and a number in a list', async () => {
    await sql`update recorder.x_balances set asset = ''`;
    await sql`update recorder.p_blocks set tx = '1' where height = 2`;
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'changed', key: { node: 'n', height: 2 } },
      { dataset: 'x_balances', of: 'row', what: 'changed', key: avax },
    ]);
  });

  it('but not in a number with other zeros', async () => {
    await sql`update recorder.metric_points set value = 10.00 where value = 10`;
    await expectWhole();
  });

  it('in an added row, also after further seals: nothing by a past run comes late', async () => {
    await sql`insert into recorder.p_blocks (node, height, valid_from, run_id) values ('n', 3, ${h(26)}, 1)`;
    await seal(72);
    await seal(96);
    expect(short(await verifyRecord())).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'added', key: { node: 'n', height: 3 } },
    ]);
  });

  it('in a change with the same short hash: it is among the rows of its part', async () => {
    const whole = await expectWhole();
    // Such a value cannot be found here; the stored short hash is changed to match instead.
    await sql`update recorder.seal_parts set node = sha256('another'::bytea) where dataset = 'p_blocks' and seal = 1`;
    const found = await verifyRecord();
    expect(short(found)).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'among', key: { node: 'n', height: 1 } },
    ]);
    expect(found.rows, 'those that stand as they were sealed').toBe(whole.rows - 1);
    expect(found.broken).toEqual(['seal 1: p_blocks: the hash tree differs from the sealed hash tree']);
  });

  it('only of the selected days', async () => {
    await sql`update recorder.p_blocks set id = 'other'`;
    expect(short(await verifyRecord({ from: h(24).toISOString() }))).toMatchObject([{ key: { height: 2 } }]);
    expect(short(await verifyRecord({ to: h(24).toISOString() }))).toMatchObject([{ key: { height: 1 } }]);
    expect(short(await verifyRecord({ from: h(3).toISOString(), to: h(24).toISOString() }))).toEqual([]);
  });
});

describe('a row keeps its seal', () => {
  it('while it is queried, vanishes, returns, and ends on a later day', async () => {
    await inRun(2, async (run, at) => {
      await world.point(run, 'txCount', 10, at);
      await world.member(run, 'AVAX', 5, at);
    });
    await seal(24);
    await sql`update recorder.x_balances set missed_walks = 2, missed_since = ${h(25)}`;
    await sql`update recorder.metric_points set valid_to = ${h(26)}, vanished = true`;
    await seal(48);
    await inRun(49, async (run, at) => {
      await sql`update recorder.metric_points set vanished = false`;
      await world.point(run, 'txCount', 10, at);
      await world.member(run, 'AVAX', 6, at);
    });
    await expectWhole();
    await seal(72);
    expect(await expectWhole()).toMatchObject({ rows: 4, ends: 2 });
  });

  it('when a column is added, and when values are filled into it', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    await seal(24);
    await sql`alter table recorder.p_blocks add column more text`;
    try {
      await sql`update recorder.p_blocks set more = 'found later'`;
      await expectWhole();
      // Rows sealed by a version with the column include it.
      await sql`update recorder.p_blocks set more = null`;
    } finally {
      await sql`alter table recorder.p_blocks drop column more`;
    }
  });

  it('but a row without its column cannot be read as it was sealed', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    await seal(24);
    await sql`alter table recorder.p_blocks rename column bytes to octets`;
    try {
      expect((await verifyRecord()).broken).toEqual([
        expect.stringMatching(/^p_blocks cannot be read in its sealed form: .*bytes/),
      ]);
    } finally {
      await sql`alter table recorder.p_blocks rename column octets to bytes`;
    }
  });
});

describe('a late row', () => {
  it('of a run that continued over midnight is sealed with the next seal, and is no error before', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    const long = await world.begin(h(23));
    await world.block(long, 1, h(23));
    await world.poll(long, ['P'], 1, h(23));
    await inRun(23.5, (run, at) => world.block(run, 2, at));
    const first = await seal(24);
    expect(first).toMatchObject({ rows: 3, ends: 0, late: 0 });
    await world.block(long, 3, h(23));
    await world.poll(long, ['X'], 1, h(23));
    await world.member(long, 'AVAX', null, h(23));
    await world.end(long, h(25));
    expect(await expectWhole()).toMatchObject({ unsealed: 3 });
    expect(await seal(48)).toMatchObject({ rows: 2, ends: 1, late: 3 });
    expect(await expectWhole()).toMatchObject({ rows: 5, ends: 1, unsealed: 0 });
    await sql`update recorder.chain_heights set height = 7 where chain = 'P'`;
    await sql`update recorder.p_blocks set id = 'x' where height = 3`;
    expect(short(await verifyRecord())).toMatchObject([{ what: 'changed' }, { what: 'changed' }]);
  });

  it('that was observed weeks ago and could not be decoded then is sealed', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    await seal(24);
    await seal(480);
    await inRun(481, async (run) => {
      await world.member(run, 'AVAX', 6, h(20));
      await world.poll(run, ['P'], 1, h(20));
    });
    expect(await expectWhole()).toMatchObject({ unsealed: 3 });
    expect(await seal(500)).toMatchObject({ rows: 2, ends: 1, late: 3 });
    await expectWhole();
  });

  it('that ends a member at the first of two walks is sealed', async () => {
    const feed = scriptedFeed(xBalances, { node: 'n', address: 'X-a' });
    const walk = async (hours: number, ...assets: string[]) => {
      feed.script = async function* () {
        for (const [at, assetID] of assets.entries())
          yield {
            ...{ body: { balances: [{ assetID, balance: '1' }] }, proven: null, whole: true },
            ...{ last: at === assets.length - 1, ...(at === 0 && { startsList: true as const }) },
          };
      };
      await run(
        recordingContext(sql, () => h(hours).getTime()),
        feed,
      );
    };
    await walk(1, 'A', 'B', 'C');
    await walk(23, 'A', 'B');
    await seal(24);
    await walk(25, 'A', 'B');
    const ended = await sql`select valid_to, confirmed_at from recorder.x_balances where asset_id = 'C'`;
    expect([...ended]).toEqual([{ valid_to: h(23), confirmed_at: h(25) }]);
    expect(await expectWhole()).toMatchObject({ unsealed: 1 });
    expect(await seal(48)).toMatchObject({ ends: 1, late: 1 });
    await expectWhole();
    await sql`update recorder.x_balances set valid_to = ${h(22)} where asset_id = 'C'`;
    expect(short(await verifyRecord())).toMatchObject([{ of: 'end', what: 'moved' }]);
  });

  it('of a worker whose clock is behind is sealed', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    await seal(24);
    await inRun(23, (run, at) => world.member(run, 'AVAX', null, at));
    expect(await expectWhole()).toMatchObject({ unsealed: 1 });
    expect(await seal(48)).toMatchObject({ ends: 1, late: 1 });
    await expectWhole();
  });

  it('of an observer beyond its heartbeat is not settled', async () => {
    await world.turn('up', h(20), h(21));
    await world.turn('down', h(22), h(21));
    expect(await seal(24)).toMatchObject({ rows: 1, ends: 0 });
    await sql`delete from recorder.node_health where started_at = ${h(22)}`;
    await sql`update recorder.node_health set ended_at = null, probes = null`;
    await world.turn('unknown', h(21), h(47));
    expect(await expectWhole()).toMatchObject({ unsealed: 2 });
    expect(await seal(48)).toMatchObject({ rows: 1, ends: 1, late: 2 });
    await expectWhole();
  });
});

describe('a late row of a key whose earlier rows a retention removed', () => {
  const declareRemoval = (dataset: string) => sql`
    insert into recorder.seal_changes (dataset, kind, reason, before_at, declared_at)
    values (${dataset}, 'removed', 'retention', ${h(24)}, ${h(72)})`;

  it('is no change of the removed rows: a member that left again', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    await inRun(2, (run, at) => world.member(run, 'AVAX', null, at));
    await inRun(30, (run, at) => world.member(run, 'AVAX', 6, at));
    await seal(72);
    await sql`delete from recorder.x_balances where valid_to < ${h(24)}`;
    await declareRemoval('x_balances');
    await inRun(73, (run) => world.member(run, 'AVAX', 7, h(71)));
    expect(await expectWhole()).toMatchObject({ removed: 2, unsealed: 2 });
    await sql`update recorder.x_balances set valid_from = ${h(1)} where balance = 6`;
    expect(short(await verifyRecord())).toMatchObject([
      { of: 'row', what: 'changed' },
      { of: 'end', what: 'moved' },
      { of: 'row', what: 'moved' },
    ]);
  });

  it('is no change of the removed rows: states of an observer that had not settled', async () => {
    await world.turn('up', h(1), h(2));
    await world.turn('down', h(2), h(3));
    await world.turn('up', h(3), h(50));
    await seal(72);
    await sql`delete from recorder.node_health where ended_at < ${h(24)}`;
    await declareRemoval('node_health');
    await world.turn('down', h(60), h(71));
    expect(await expectWhole()).toMatchObject({ removed: 4, unsealed: 2 });
  });
});

describe('the chain', () => {
  beforeEach(() => sealed.sealChain());

  it('continues over days without records', async () => {
    expect(await expectWhole()).toMatchObject({ seal: 3, rows: 2 });
    const seals = await sql`select seal from recorder.seal_datasets where dataset = 'p_blocks' order by seal`;
    expect(seals.map((row) => row.seal)).toEqual([1, 3]);
  });

  it.each<[string, () => Promise<unknown>, RegExp[]]>([
    [
      'a count',
      () => sql`update recorder.seal_datasets set late = 1 where dataset = 'p_blocks' and seal = 1`,
      [/^seal 1: p_blocks: the head does not match/],
    ],
    [
      'a head',
      () => sql`update recorder.seals set head = 'a' where seal = 2`,
      [/^seal 2: the head is not/, /^seal 3: the statement/],
    ],
    [
      'a statement',
      () => sql`update recorder.seals set statement = statement || 'x' where seal = 2`,
      [/^seal 2: the statement/, /^seal 2: the head/],
    ],
  ])('detects %s that was changed', async (_, change, messages) => {
    await change();
    const { broken } = await verifyRecord();
    expect(broken).toEqual(messages.map((message) => expect.stringMatching(message)));
  });

  it('that was computed again from rewritten rows is detected by a stored head', async () => {
    const [kept] = await sql<{ statement: string }[]>`select statement from recorder.seals where seal = 1`;
    expect((await verifyRecord({ kept: kept?.statement ?? '' })).broken).toEqual([]);
    await sql`update recorder.p_blocks set id = 'other' where height = 1`;
    await sql`truncate recorder.seals, recorder.seal_datasets, recorder.seal_parts`;
    await seal(24);
    await seal(48);
    await seal(72);
    await expectWhole();
    expect((await verifyRecord({ kept: kept?.statement ?? '' })).broken).toEqual([
      'seal 1 differs from the kept statement',
    ]);
    expect((await verifyRecord({ kept: 'chain-recorder seal 1\nnumber 9\n' })).broken).toEqual([
      'seal 9 of the kept statement is missing',
    ]);
    expect((await verifyRecord({ kept: 'nonsense' })).broken).toEqual([
      'the kept text is not the statement of a seal',
    ]);
  });
});

describe('a signature', () => {
  const spki = (key: KeyObject) =>
    createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const { privateKey: other } = generateKeyPairSync('ed25519');

  it('covers the statement, and a seal with the signature of another key, or none, is reported', async () => {
    clock.now = h(24).getTime();
    const made = await sealUntil({ ...sealing(), key }, clock.now);
    if (made === null || made === 'busy' || !made.signature) throw new Error('nothing was signed');
    expect(verifySignature(null, Buffer.from(made.statement), createPublicKey(key), made.signature)).toBe(
      true,
    );
    expect(createHash('sha256').update(made.statement).digest('hex')).toBe(made.head);
    expect(await verifyRecord({ publicKey: spki(key) })).toMatchObject({ broken: [], differences: [] });
    expect((await verifyRecord({ publicKey: spki(other) })).broken).toEqual([
      'seal 1: the seal is not signed with the given key',
    ]);
    await seal(48);
    expect((await verifyRecord({ publicKey: spki(key) })).broken).toEqual([
      'seal 2: the seal is not signed with the given key',
    ]);
    await sql`update recorder.seals set signature = overlay(signature placing '\\x0000'::bytea from 1) where seal = 1`;
    expect((await verifyRecord()).broken).toEqual(['seal 1: the signature does not match the statement']);
  });
});

describe('a declared change', () => {
  beforeEach(async () => {
    for (const day of [0, 1, 2]) await inRun(day * 24 + 2, (run, at) => world.block(run, day, at));
    await seal(72);
  });

  it('of rewritten values is sealed again, with its reason in the chain', async () => {
    await sql`update recorder.p_blocks set id = upper(id)`;
    expect(short(await verifyRecord())).toHaveLength(3);
    await sql`insert into recorder.seal_changes (dataset, kind, reason, declared_at) values ('p_blocks', 'resealed', 'one spelling', ${h(73)})`;
    expect(await expectWhole()).toMatchObject({ declared: [{ reason: 'one spelling', seal: null }] });
    await seal(96);
    expect(await expectWhole()).toMatchObject({ rows: 3, declared: [{ dataset: 'p_blocks', seal: 2 }] });
    const [sealed] =
      await sql`select changes from recorder.seal_datasets where dataset = 'p_blocks' and seal = 2`;
    expect(sealed?.changes).toEqual(['resealed: one spelling']);
    await sql`update recorder.p_blocks set id = 'other' where height = 1`;
    expect(short(await verifyRecord())).toMatchObject([{ what: 'changed', key: { height: 1 } }]);
    await seal(120);
    expect(short(await verifyRecord())).toHaveLength(1);
  });

  it('of removed rows leaves their seals, and the remaining rows are still verified', async () => {
    await sql`delete from recorder.p_blocks where height < 2`;
    await sql`insert into recorder.seal_changes (dataset, kind, reason, before_at, declared_at)
      values ('p_blocks', 'removed', 'kept for a day', ${h(24)}, ${h(73)})`;
    const found = await verifyRecord();
    expect(found.removed).toBe(1);
    expect(short(found)).toMatchObject([{ what: 'gone' }]);
    await seal(96);
    expect(await verifyRecord()).toMatchObject({ removed: 1, broken: [], differences: [{ what: 'gone' }] });
  });
});

describe('the sealing', () => {
  it('runs for the days that ended an hour ago, once', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    await inRun(30, (run, at) => world.block(run, 2, at));
    clock.now = h(24.5).getTime();
    expect(await sealDays(sql, sealing())).toMatchObject({ seal: 1, rows: 0, until: h(0) });
    clock.now = h(25).getTime();
    expect(await sealDays(sql, sealing())).toMatchObject({ seal: 2, rows: 1, until: h(24) });
    expect(await sealDays(sql, sealing())).toBeNull();
    clock.now = h(100).getTime();
    expect(await sealDays(sql, sealing())).toMatchObject({ seal: 3, rows: 1, until: h(96) });
    clock.now = h(40).getTime(); // set back
    expect(await sealDays(sql, sealing())).toBeNull();
    await expectWhole();
  });

  it('runs in one process at a time', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    clock.now = h(24).getTime();
    const made = await Promise.all([1, 2, 3].map(() => sealUntil(sealing(), clock.now)));
    expect(made.filter((one) => one !== null && one !== 'busy')).toHaveLength(1);
    await expectWhole();
  });

  it('runs also while another process compares the sources', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    clock.now = h(24).getTime();
    const made = await withRowLock(database.url, LOCKS.compare, () => sealUntil(sealing(), clock.now));
    expect(made).toMatchObject({ seal: expect.any(Number) });
  });

  it('runs up to now at the most, whatever the clock is', async () => {
    const made = await sealUntil(sealing(), Date.now() + 1000 * 24 * hour);
    if (made === null || made === 'busy') throw new Error('nothing was sealed');
    expect(made.until.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('reports why it failed, and continues after the last seal', async () => {
    for (let at = 0; at < 5; at++) await inRun(2 + at * 24, (run, now) => world.block(run, at, now));
    await sql`alter table recorder.x_balances rename to hidden`;
    await expect(seal(200)).rejects.toThrow('x_balances');
    await sql`alter table recorder.hidden rename to x_balances`;
    const [failed] = await sql`select error, made_at from recorder.seals`;
    expect(failed).toMatchObject({ error: expect.stringContaining('x_balances'), made_at: null });
    await inRun(201, (run, at) => world.block(run, 9, at));
    // A started seal is completed first; then the rest.
    expect(await seal(210)).toMatchObject({ seal: 2, rows: 1, late: 0 });
    const [first] = await sql`select until, error from recorder.seals where seal = 1`;
    expect(first).toEqual({ until: h(200), error: null });
    expect(await expectWhole()).toMatchObject({ rows: 6 });
  });

  it('splits parts into some hundred leaves, and reads any number of rows', async () => {
    const run = await world.begin(h(1));
    await sql`insert into recorder.p_blocks (node, height, valid_from, run_id)
      select 'n', n, ${h(1)}::timestamptz + (n / 300) * interval '1 second', ${run.id} from generate_series(1, 3000) n`;
    await world.end(run, h(1));
    await seal(24);
    const [parts] =
      await sql`select count(*)::int as parts from recorder.seal_parts where dataset = 'p_blocks'`;
    expect(parts?.parts).toBe(12);
    await sql`update recorder.p_blocks set id = 'x' where height in (1, 777, 2999)`;
    expect(short(await verifyRecord()).map(({ key }) => key.height)).toEqual([1, 777, 2999]);
    await sql`delete from recorder.p_blocks where height > 10`;
    expect(await verifyRecord()).toMatchObject({ rows: 9, more: 1991 });
  });
});
