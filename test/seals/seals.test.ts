import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify as verifySignature,
} from 'node:crypto';
import fc from 'fast-check';
import postgres from 'postgres';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { openSealing } from '../../src/db/client.ts';
import { LOCKS, withRowLock } from '../../src/db/row-lock.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { type Difference, inWords } from '../../src/seals/difference.ts';
import { sealDays, sealUntil } from '../../src/seals/seal.ts';
import { type Verified, verify } from '../../src/seals/verify.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { type Leaf, type Run, World } from './world.ts';

const { it, database, sql } = withDatabase({
  max: 3,
  connection: { DateStyle: 'ISO', TimeZone: 'UTC' },
});
let world: World;
const clock = new ManualClock(0);

beforeAll(async () => {
  // What a database says of its sessions changes what they show, not what is sealed.
  const name = sql(new URL(database.url).pathname.slice(1));
  await sql`alter database ${name} set DateStyle = 'German'`;
  await sql`alter database ${name} set TimeZone = 'Asia/Kathmandu'`;
  world = new World(sql);
});
beforeEach(() => world.empty());

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
/** So many hours after the begin of 2026, and some microseconds' worth of milliseconds. */
const h = (hours: number) => new Date(start + Math.round(hours * hour));

const sealing = (signal = new AbortController().signal) => ({
  databaseUrl: database.url,
  clock: clock.read,
  key: undefined,
  signal,
});

/** Seals what was recorded up to so many hours. */
async function seal(hours: number) {
  clock.now = h(hours).getTime();
  const made = await sealUntil(sealing(), clock.now);
  if (made === null || made === 'busy') throw new Error(`nothing was sealed: ${made}`);
  return made;
}

const verified = (more: Partial<Parameters<typeof verify>[0]> = {}) =>
  verify({ databaseUrl: database.url, ...more });

/** Nothing differs, and so much stands. */
async function expectWhole(): Promise<Verified> {
  const found = await verified();
  expect(found.differences.map(inWords)).toEqual([]);
  expect(found.broken).toEqual([]);
  return found;
}

/** One run that does something and ends. */
async function inRun(hours: number, work: (run: Run, at: Date) => Promise<void>): Promise<Run> {
  const run = await world.begin(h(hours));
  await work(run, h(hours));
  await world.end(run, h(hours));
  return run;
}

/** What was told of differences, in short. */
const short = ({ differences }: Verified) =>
  differences.map(({ dataset, of, what, key, now }) => ({
    dataset,
    of,
    what,
    ...(now === null ? {} : { now: new Date(now).toISOString() }),
    key: key && JSON.parse(key),
  }));

describe('an edit by hand is found and named', () => {
  beforeEach(async () => {
    await inRun(2, async (run, at) => {
      await world.point(run, 'txCount', 10, at);
      await world.point(run, 'gasUsed', 10, at);
      await world.member(run, 'AVAX', 5, at);
      await world.look(run, ['C', 'P', 'X'], 100, at);
      await world.block(run, 1, at);
    });
    await seal(24);
    await inRun(26, async (run, at) => {
      await world.point(run, 'txCount', 11, at);
      await world.member(run, 'AVAX', null, at);
      await world.block(run, 2, at);
    });
    await world.turn('up', h(27), h(30));
    await seal(48);
    const { rows, ends } = await expectWhole();
    expect({ rows, ends }).toEqual({ rows: 8, ends: 2 });
  });
  const avax = { node: 'n', address: 'X-a', asset_id: 'AVAX' };

  it('a null that becomes an empty text, and a number in a list', async () => {
    await sql`update recorder.x_balances set asset = ''`;
    await sql`update recorder.p_blocks set tx = '1' where height = 2`;
    expect(short(await verified())).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'changed', key: { node: 'n', height: 2 } },
      { dataset: 'x_balances', of: 'row', what: 'changed', key: avax },
    ]);
  });

  it('not a number that is written with other zeros', async () => {
    await sql`update recorder.metric_points set value = 10.00 where value = 10`;
    await expectWhole();
  });

  it('an added row, also after further seals: nothing by a run of the past comes late', async () => {
    await sql`insert into recorder.p_blocks (node, height, recorded_at, run_id) values ('n', 3, ${h(26)}, 1)`;
    await seal(72);
    await seal(96);
    expect(short(await verified())).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'added', key: { node: 'n', height: 3 } },
    ]);
  });

  it('a moved valid_to, within its day and to a later one', async () => {
    await sql`update recorder.x_balances set valid_to = ${h(25)}`;
    expect(short(await verified())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'moved', now: h(25).toISOString(), key: avax },
    ]);
    await sql`update recorder.x_balances set valid_to = ${h(2.5)}`;
    expect(short(await verified())).toEqual([
      { dataset: 'x_balances', of: 'end', what: 'moved', now: h(2.5).toISOString(), key: avax },
    ]);
    await seal(72);
    expect(short(await verified())).toHaveLength(1);
    // Beyond the newest seal nothing is said of it; of the sealed end it is.
    await sql`update recorder.x_balances set valid_to = ${h(100)}`;
    expect(short(await verified())).toEqual([{ dataset: 'x_balances', of: 'end', what: 'gone', key: avax }]);
    await seal(120);
    expect(short(await verified())).toEqual([{ dataset: 'x_balances', of: 'end', what: 'gone', key: avax }]);
  });

  it('a reading, by its look: one that changed, one that is gone, and one more', async () => {
    const [{ run_id } = { run_id: '' }] = await sql<
      { run_id: string }[]
    >`select run_id from recorder.chain_heights limit 1`;
    const look = {
      dataset: 'chain_heights',
      of: 'row',
      key: { run_id: Number(run_id), target: `t=${run_id}` },
    };
    await sql`update recorder.chain_heights set height = 101 where chain = 'P'`;
    expect(short(await verified())).toEqual([{ ...look, what: 'changed' }]);
    await sql`update recorder.chain_heights set height = 100 where chain = 'P'`;
    await expectWhole();
    await sql`delete from recorder.chain_heights where chain = 'P'`;
    expect(short(await verified())).toEqual([{ ...look, what: 'changed' }]);
    await sql`delete from recorder.chain_heights`;
    expect(short(await verified())).toEqual([{ ...look, what: 'gone' }]);
  });

  it('a reading of a day that is closed, which closing alone does not change', async () => {
    const own = openSealing(database.url, 60_000);
    const closed = await closeDays(own, h(72).getTime(), new AbortController().signal);
    await own.end();
    expect(closed).toEqual({ packed: 3, kept: 0, failed: [] });
    const [look] = await sql<{ run_id: string }[]>`select distinct run_id from recorder.reading_looks`;
    const named = (what: string) => ({
      dataset: 'chain_heights',
      of: 'row',
      what,
      key: { run_id: Number(look?.run_id), target: `t=${look?.run_id}` },
    });
    await expectWhole();
    const ofP = sql`scope_id = (select scope_id from recorder.reading_scopes where request = array['n', 'P'])`;
    await sql`update recorder.reading_days set base[1] = base[1] + 1 where ${ofP}`;
    expect(short(await verified())).toEqual([named('changed')]);
    await sql`update recorder.reading_days set base[1] = base[1] - 1 where ${ofP}`;
    await expectWhole();
    await sql`delete from recorder.reading_looks where ${ofP}`;
    expect(short(await verified())).toEqual([named('changed')]);
    await sql`delete from recorder.reading_days`;
    expect(short(await verified())).toEqual([named('gone')]);
  });

  it('a change whose short mark is the same: it is among the rows of its part', async () => {
    const whole = await expectWhole();
    // Nobody finds such a value here; the mark is made to fit instead, as if there were one.
    await sql`update recorder.seal_parts set node = sha256('another'::bytea) where dataset = 'p_blocks' and seal = 1`;
    const found = await verified();
    expect(short(found)).toEqual([
      { dataset: 'p_blocks', of: 'row', what: 'among', key: { node: 'n', height: 1 } },
    ]);
    expect(found.rows, 'those that stand as they were sealed').toBe(whole.rows - 1);
    expect(found.broken).toEqual(['seal 1: p_blocks: its tree of hashes is not the one that was sealed']);
  });

  it('only of the days that are asked about', async () => {
    await sql`update recorder.p_blocks set id = 'other'`;
    expect(short(await verified({ from: h(24).toISOString() }))).toMatchObject([{ key: { height: 2 } }]);
    expect(short(await verified({ to: h(24).toISOString() }))).toMatchObject([{ key: { height: 1 } }]);
    expect(short(await verified({ from: h(3).toISOString(), to: h(24).toISOString() }))).toEqual([]);
  });
});

describe('a row stays sealed', () => {
  it('while it is looked for, vanishes, comes back, and ends on a later day', async () => {
    await inRun(2, async (run, at) => {
      await world.point(run, 'txCount', 10, at);
      await world.member(run, 'AVAX', 5, at);
    });
    await seal(24);
    await sql`update recorder.x_balances set missed_walks = 2, missed_since = ${h(25)}`;
    await sql`update recorder.metric_points set superseded_at = ${h(26)}, vanished = true`;
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
      // What a version that knows the column seals, is sealed with it.
      await sql`update recorder.p_blocks set more = null`;
    } finally {
      await sql`alter table recorder.p_blocks drop column more`;
    }
  });

  it('and one whose column is gone cannot be read as it was sealed', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    await seal(24);
    await sql`alter table recorder.p_blocks rename column bytes to octets`;
    try {
      expect((await verified()).broken).toEqual([
        expect.stringMatching(/^p_blocks cannot be read as it was sealed: .*bytes/),
      ]);
    } finally {
      await sql`alter table recorder.p_blocks rename column octets to bytes`;
    }
  });
});

describe('what comes late', () => {
  it('by a run that went on over midnight is sealed with the next seal, and is no alarm before', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    const long = await world.begin(h(23));
    await world.block(long, 1, h(23));
    await world.look(long, ['P'], 1, h(23));
    await inRun(23.5, (run, at) => world.block(run, 2, at));
    const first = await seal(24);
    expect(first).toMatchObject({ rows: 3, ends: 0, late: 0 });
    await world.block(long, 3, h(23));
    await world.look(long, ['X'], 1, h(23));
    await world.member(long, 'AVAX', null, h(23));
    await world.end(long, h(25));
    expect(await expectWhole()).toMatchObject({ unsealed: 3 });
    expect(await seal(48)).toMatchObject({ rows: 2, ends: 1, late: 3 });
    expect(await expectWhole()).toMatchObject({ rows: 5, ends: 1, unsealed: 0 });
    await sql`update recorder.chain_heights set height = 7 where chain = 'P'`;
    await sql`update recorder.p_blocks set id = 'x' where height = 3`;
    expect(short(await verified())).toMatchObject([{ what: 'changed' }, { what: 'changed' }]);
  });

  it('as it was observed weeks ago and could not be read then', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    await seal(24);
    await seal(480);
    await inRun(481, async (run) => {
      await world.member(run, 'AVAX', 6, h(20));
      await world.look(run, ['P'], 1, h(20));
    });
    expect(await expectWhole()).toMatchObject({ unsealed: 3 });
    expect(await seal(500)).toMatchObject({ rows: 2, ends: 1, late: 3 });
    await expectWhole();
  });

  it('by a worker whose clock is behind', async () => {
    await inRun(1, (run, at) => world.member(run, 'AVAX', 5, at));
    await seal(24);
    await inRun(23, (run, at) => world.member(run, 'AVAX', null, at));
    expect(await expectWhole()).toMatchObject({ unsealed: 1 });
    expect(await seal(48)).toMatchObject({ ends: 1, late: 1 });
    await expectWhole();
  });

  it('from an observer: what is beyond its heartbeat is not settled', async () => {
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

describe('the chain', () => {
  beforeEach(async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    await seal(24);
    await seal(48);
    await inRun(50, (run, at) => world.block(run, 2, at));
    await seal(72);
  });

  it('goes on over days on which nothing was recorded', async () => {
    expect(await expectWhole()).toMatchObject({ seal: 3, rows: 2 });
    const seals = await sql`select seal from recorder.seal_datasets where dataset = 'p_blocks' order by seal`;
    expect(seals.map((row) => row.seal)).toEqual([1, 3]);
  });

  it.each<[string, () => Promise<unknown>, RegExp[]]>([
    [
      'a count',
      () => sql`update recorder.seal_datasets set late = 1 where dataset = 'p_blocks' and seal = 1`,
      [/^seal 1: p_blocks: what it says/],
    ],
    [
      'a head',
      () => sql`update recorder.seals set head = 'a' where seal = 2`,
      [/^seal 2: its head is not/, /^seal 3: its statement/],
    ],
    [
      'a statement',
      () => sql`update recorder.seals set statement = statement || 'x' where seal = 2`,
      [/^seal 2: its statement/, /^seal 2: its head/],
    ],
    [
      'a seal that is taken out',
      () => sql`delete from recorder.seals where seal = 2`,
      [/^seal 3: the seals between/, /^seal 3: its statement/],
    ],
    [
      'hashes that are taken out',
      () => sql`delete from recorder.seal_parts where seal = 3`,
      [/^seal 3: p_blocks: its tree of hashes is gone/],
    ],
    [
      'hashes that are moved',
      () => sql`update recorder.seal_parts set seal = 2 where seal = 3`,
      [/^seal 3: p_blocks: its tree/, /^seal 2: p_blocks: it holds hashes/],
    ],
    [
      'a mark',
      () =>
        sql`update recorder.seal_parts set tags = overlay(tags placing '\\x00'::bytea from 1) where seal = 3`,
      [/^seal 3: p_blocks: its tree/],
    ],
    [
      'a form',
      () =>
        sql`update recorder.seal_forms set definition = jsonb_set(definition, '{content}', '[]') where definition ->> 'table' = 'p_blocks'`,
      [/^the form .* was changed/, /./, /./],
    ],
  ])('names %s that was changed', async (_, change, words) => {
    await change();
    const { broken } = await verified();
    expect(broken).toEqual(words.map((word) => expect.stringMatching(word)));
  });

  it('that was made anew from rewritten rows is told by a head that was kept', async () => {
    const [kept] = await sql<{ statement: string }[]>`select statement from recorder.seals where seal = 1`;
    expect((await verified({ kept: kept?.statement ?? '' })).broken).toEqual([]);
    await sql`update recorder.p_blocks set id = 'other' where height = 1`;
    await sql`truncate recorder.seals, recorder.seal_datasets, recorder.seal_parts`;
    await seal(24);
    await seal(48);
    await seal(72);
    await expectWhole();
    expect((await verified({ kept: kept?.statement ?? '' })).broken).toEqual([
      'seal 1 is not the one that was kept',
    ]);
    expect((await verified({ kept: 'chain-recorder seal 1\nnumber 9\n' })).broken).toEqual([
      'seal 9, which was kept, is not there',
    ]);
    expect((await verified({ kept: 'nonsense' })).broken).toEqual(['what was kept is no seal']);
  });
});

describe('a signature', () => {
  const spki = (key: KeyObject) =>
    createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const { privateKey: other } = generateKeyPairSync('ed25519');

  it('is of the statement, and tells a seal that another key signed, or none', async () => {
    clock.now = h(24).getTime();
    const made = await sealUntil({ ...sealing(), key }, clock.now);
    if (made === null || made === 'busy' || !made.signature) throw new Error('nothing was signed');
    expect(verifySignature(null, Buffer.from(made.statement), createPublicKey(key), made.signature)).toBe(
      true,
    );
    expect(createHash('sha256').update(made.statement).digest('hex')).toBe(made.head);
    expect(await verified({ publicKey: spki(key) })).toMatchObject({ broken: [], differences: [] });
    expect((await verified({ publicKey: spki(other) })).broken).toEqual([
      'seal 1: it is not signed with the given key',
    ]);
    await seal(48);
    expect((await verified({ publicKey: spki(key) })).broken).toEqual([
      'seal 2: it is not signed with the given key',
    ]);
    await sql`update recorder.seals set signature = overlay(signature placing '\\x0000'::bytea from 1) where seal = 1`;
    expect((await verified()).broken).toEqual(['seal 1: its signature is not of its statement']);
  });
});

describe('a change that is declared', () => {
  beforeEach(async () => {
    for (const day of [0, 1, 2]) await inRun(day * 24 + 2, (run, at) => world.block(run, day, at));
    await seal(72);
  });

  it('as values written anew is sealed again, with its reason in the chain', async () => {
    await sql`update recorder.p_blocks set id = upper(id)`;
    expect(short(await verified())).toHaveLength(3);
    await sql`insert into recorder.seal_changes (dataset, kind, reason, declared_at) values ('p_blocks', 'resealed', 'one spelling', ${h(73)})`;
    expect(await expectWhole()).toMatchObject({ declared: [{ reason: 'one spelling', seal: null }] });
    await seal(96);
    expect(await expectWhole()).toMatchObject({ rows: 3, declared: [{ dataset: 'p_blocks', seal: 2 }] });
    const [sealed] =
      await sql`select changes from recorder.seal_datasets where dataset = 'p_blocks' and seal = 2`;
    expect(sealed?.changes).toEqual(['resealed: one spelling']);
    await sql`update recorder.p_blocks set id = 'other' where height = 1`;
    expect(short(await verified())).toMatchObject([{ what: 'changed', key: { height: 1 } }]);
    await seal(120);
    expect(short(await verified())).toHaveLength(1);
  });

  it('as rows taken out leaves their seals, and what is left is still held against them', async () => {
    await sql`delete from recorder.p_blocks where height < 2`;
    await sql`insert into recorder.seal_changes (dataset, kind, reason, before_at, declared_at)
      values ('p_blocks', 'removed', 'kept for a day', ${h(24)}, ${h(73)})`;
    const found = await verified();
    expect(found.removed).toBe(1);
    expect(short(found)).toMatchObject([{ what: 'gone' }]);
    await seal(96);
    expect(await verified()).toMatchObject({ removed: 1, broken: [], differences: [{ what: 'gone' }] });
  });
});

describe('the work', () => {
  it('is done for the days that ended an hour ago, once', async () => {
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

  it('is done by one process at a time', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    clock.now = h(24).getTime();
    const made = await Promise.all([1, 2, 3].map(() => sealUntil(sealing(), clock.now)));
    expect(made.filter((one) => one !== null && one !== 'busy')).toHaveLength(1);
    await expectWhole();
  });

  it('is done also while another process compares the sources', async () => {
    await inRun(2, (run, at) => world.block(run, 1, at));
    clock.now = h(24).getTime();
    const made = await withRowLock(database.url, LOCKS.compare, () => sealUntil(sealing(), clock.now));
    expect(made).toMatchObject({ seal: expect.any(Number) });
  });

  it('is done up to now at the most, whatever the clock says', async () => {
    const made = await sealUntil(sealing(), Date.now() + 1000 * 24 * hour);
    if (made === null || made === 'busy') throw new Error('nothing was sealed');
    expect(made.until.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('says why it failed, and goes on where it was stopped', async () => {
    for (let at = 0; at < 5; at++) await inRun(2 + at * 24, (run, now) => world.block(run, at, now));
    await sql`alter table recorder.x_balances rename to hidden`;
    await expect(seal(200)).rejects.toThrow('x_balances');
    await sql`alter table recorder.hidden rename to x_balances`;
    const [failed] = await sql`select error, made_at from recorder.seals`;
    expect(failed).toMatchObject({ error: expect.stringContaining('x_balances'), made_at: null });
    await inRun(201, (run, at) => world.block(run, 9, at));
    // What was begun is ended as it was begun; then the rest.
    expect(await seal(210)).toMatchObject({ seal: 2, rows: 1, late: 0 });
    const [first] = await sql`select until, error from recorder.seals where seal = 1`;
    expect(first).toEqual({ until: h(200), error: null });
    expect(await expectWhole()).toMatchObject({ rows: 6 });
  });

  it('makes parts of some hundred leaves, and reads rows of any number', async () => {
    const run = await world.begin(h(1));
    await sql`insert into recorder.p_blocks (node, height, recorded_at, run_id)
      select 'n', n, ${h(1)}::timestamptz + (n / 300) * interval '1 second', ${run.id} from generate_series(1, 3000) n`;
    await world.end(run, h(1));
    await seal(24);
    const [parts] =
      await sql`select count(*)::int as parts from recorder.seal_parts where dataset = 'p_blocks'`;
    expect(parts?.parts).toBe(12);
    await sql`update recorder.p_blocks set id = 'x' where height in (1, 777, 2999)`;
    expect(short(await verified()).map(({ key }) => key.height)).toEqual([1, 777, 2999]);
    await sql`delete from recorder.p_blocks where height > 10`;
    expect(await verified()).toMatchObject({ rows: 9, more: 1991 });
  });
});

/** What a random history is made of. */
const event = fc.record({
  kind: fc.constantFrom('point', 'member', 'look', 'block', 'late', 'turn', 'seal'),
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
  metric_points: 'recorded_at',
  x_balances: 'valid_from',
  p_blocks: 'recorded_at',
  chain_heights: 'observed_at',
  node_health: 'started_at',
};
const TO: Partial<Record<Edit['table'], string>> = {
  metric_points: 'superseded_at',
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

/** Does something to a row, where there is one and nothing of the table forbids it. */
async function editByHand({ table, what, nth, hours }: Edit): Promise<void> {
  const at = `'${h(hours + 60).toISOString()}'`;
  const row = `ctid = (select ctid from recorder.${table} order by ${FROM[table]}, ctid offset ${nth} % greatest((select count(*) from recorder.${table}), 1) limit 1)`;
  const copy = {
    metric_points: `(series_id, bucket_start, value, recorded_at, superseded_at, run_id) values (public.series_of('2', 'm${nth}', 'day'), '2026-01-01', 1, ${at}, null, 5)`,
    x_balances: `(node, address, asset_id, balance, valid_from, run_id) values ('n', 'X-b', 'a${nth}', 1, ${at}, 5)`,
    p_blocks: `(node, height, recorded_at, run_id) values ('m', ${nth}, ${at}, 5)`,
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

/** What is on one side only: of everything that was sealed, and of what stands now in the sealed time. */
function apart(sealed: readonly Leaf[], standing: readonly Leaf[]): string[] {
  const count = (leaves: readonly Leaf[]) => {
    const counts = new Map<string, number>();
    for (const leaf of leaves) counts.set(JSON.stringify(leaf), (counts.get(JSON.stringify(leaf)) ?? 0) + 1);
    return counts;
  };
  const [before, after] = [count(sealed), count(standing)];
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

/** The same of what was told. */
function told(differences: readonly Difference[]): string[] {
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
  it('stands as it was sealed, and of any edits by hand exactly those are named', async () => {
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
            if (kind === 'look')
              await inRun(hours, (run) => world.look(run, ['P', 'X', 'C'].slice(0, which + 1), value, at));
            if (kind === 'block') await inRun(hours, (run) => world.block(run, Math.round(hours * 1000), at));
            if (kind === 'turn')
              await world.turn(['up', 'down', 'unknown'][which] ?? 'up', at, h(hours + 0.005));
            if (kind === 'late') {
              const before = open.pop();
              if (before) {
                await world.point(before.run, name, value, before.at);
                await world.member(before.run, name, value === 0 ? null : value, before.at);
                await world.look(before.run, ['P'], value, before.at);
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
          expect(await verified()).toMatchObject({
            rows: before.filter(({ of }) => of === 'row').length,
            unsealed: 0,
          });
          for (const one of edits) await editByHand(one);
          const found = await verified();
          expect(told(found.differences)).toEqual(apart(before, await world.leaves(until)));
          expect(found.unsealed).toBe(0);
        },
      ),
      { numRuns: 4 },
    );
  }, 60_000);
});
