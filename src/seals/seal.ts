import type { KeyObject } from 'node:crypto';
import type postgres from 'postgres';
import type { Clock } from '../clock.ts';
import { LOCKS, withAdvisoryLock } from '../db/advisory-lock.ts';
import { openSealing } from '../db/client.ts';
import { messageOf } from '../errors.ts';
import { nameOfForm, type SealedHistory, sealedHistories } from './form.ts';
import {
  GIVEN,
  given,
  isFresh,
  isInRange,
  isSettled,
  kindsOf,
  leavesOf,
  type OpenWriters,
  openNow,
  type Range,
  readOpenWriters,
  rowsOf,
} from './leaves.ts';
import { datasetHead, headOf, signed, statementText } from './statement.ts';

/** The most leaves of one part. */
const IN_A_PART = 256;
/** The most leaves of one statement, unless one hour has more. It bounds the memory and the temporary files of sorting. */
const AT_ONCE = 1_000_000;

/** The longest that a statement may take, ms. */
const LONGEST = 1_800_000;

const DAY = 86_400_000;
/** A day is sealed this long after its end, ms. By then runs that were under way at midnight have ended. */
const AFTER_MIDNIGHT = 3_600_000;

/** The input of sealing. */
export interface Sealing {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Ed25519; undefined: seals are not signed. */
  readonly key: KeyObject | undefined;
  /** Stops the work between two statements. The next call continues the same seal. */
  readonly signal: AbortSignal;
}

/** A finished seal. */
export interface MadeSeal {
  readonly seal: number;
  readonly until: Date;
  readonly head: string;
  readonly statement: string;
  /** Null: no key was given. */
  readonly signature: Buffer | null;
  readonly public_key: string | null;
  readonly rows: number;
  readonly ends: number;
  /** How many of both were recorded after their day had been sealed. */
  readonly late: number;
}

/** The last midnight (UTC) up to which days can be sealed at a time; both in ms since 1970. */
export const sealableUntil = (now: number): number => Math.floor((now - AFTER_MIDNIGHT) / DAY) * DAY;

/**
 * Seals the days that have ended and are not sealed yet. One seal covers all of them.
 * @param sql finds whether there is something to seal
 * @returns null when there is nothing to seal, another process is sealing, or the work was stopped
 */
export async function sealDays(sql: postgres.Sql, sealing: Sealing): Promise<MadeSeal | null> {
  const until = sealableUntil(sealing.clock());
  const [newest] = await sql<{ until: Date | null }[]>`
    select max(until) as until from recorder.seals where made_at is not null`;
  if ((newest?.until?.getTime() ?? Number.NEGATIVE_INFINITY) >= until) return null;
  const made = await sealUntil(sealing, until);
  return made === 'busy' ? null : made;
}

/**
 * Seals what was recorded before an instant. A seal that was begun and not finished is finished first, with its own end.
 * @param until ms since 1970
 * @returns the last seal that was made; null when all is sealed already, or the work was stopped before a seal was
 * finished; `busy` when another process is sealing
 */
export async function sealUntil(sealing: Sealing, until: number): Promise<MadeSeal | null | 'busy'> {
  let made: MadeSeal | null = null;
  const done = await withAdvisoryLock(sealing.databaseUrl, LOCKS.seal, async () => {
    const sql = openSealing(sealing.databaseUrl, LONGEST);
    try {
      const to = Math.min(until, await timeOf(sql));
      for (;;) {
        const pending = await beginSeal(sql, to, sealing.clock());
        if (!pending) break;
        const ended = await endSeal(sql, pending, sealing).catch(async (error: unknown) => {
          await sql`update recorder.seals set error = ${messageOf(error)} where seal = ${pending.seal} and made_at is null`.catch(
            () => {},
          );
          throw error;
        });
        if (!ended) break;
        made = ended;
      }
      return true;
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
  return done === null ? 'busy' : made;
}

/** The database's time, ms since 1970. It is the limit of a seal, so that a clock that is ahead never seals the future. */
async function timeOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ now: number }[]>`select floor(extract(epoch from now()) * 1000)::float8 as now`;
  return row?.now ?? Number.NEGATIVE_INFINITY;
}

/** A seal that was begun and is not finished. Instants are PostgreSQL's texts, to the microsecond. */
interface Pending {
  readonly seal: number;
  readonly until: string;
  readonly open: OpenWriters;
}

/** Finds the unfinished seal, or begins a new one. @returns null when all before `until` is sealed */
async function beginSeal(sql: postgres.Sql, until: number, now: number): Promise<Pending | null> {
  const at = new Date(until).toISOString();
  const [row] = await sql.unsafe<{ seal: number; until: string; open: unknown }[]>(
    `with pending as (
      select seal, until::text, open from recorder.seals where made_at is null
    ), newest as (
      select coalesce(max(seal), 0) as seal, coalesce(max(until), '-infinity') as until from recorder.seals
    ), begun as (
      insert into recorder.seals (seal, until, began_at, open)
      select n.seal + 1, u.until, $2::text::timestamptz, ${openNow('u.until')}
      from newest n, (select $1::text::timestamptz as until) u
      where u.until > n.until and not exists (select from pending)
      returning seal, until::text, open
    )
    select * from pending union all select * from begun`,
    [at, new Date(now).toISOString()],
  );
  return row ? { seal: row.seal, until: row.until, open: readOpenWriters(row.open) } : null;
}

async function endSeal(
  sql: postgres.Sql,
  pending: Pending,
  { clock, key, signal }: Sealing,
): Promise<MadeSeal | null> {
  const [before] = await sql<{ until: string; open: unknown; head: string }[]>`
    select until::text, open, head from recorder.seals where seal = ${pending.seal - 1}`;
  const last = before ? { until: before.until, open: readOpenWriters(before.open) } : null;
  const sealed = await sql<{ dataset: string }[]>`
    select dataset from recorder.seal_datasets where seal = ${pending.seal}`;
  const done = new Set(sealed.map(({ dataset }) => dataset));
  for (const history of sealedHistories) {
    if (signal.aborted) return null;
    if (done.has(history.dataset)) continue;
    if (!(await sealDataset(sql, history, pending, last, signal))) return null;
  }
  const heads = await sql<{ dataset: string; head: string }[]>`
    select distinct on (dataset) dataset, head from recorder.seal_datasets order by dataset, seal desc`;
  const madeAt = new Date(clock());
  const statement = statementText({
    seal: pending.seal,
    until: new Date(pending.until),
    madeAt,
    before: before?.head ?? null,
    heads: [...heads],
  });
  const head = headOf(statement);
  const signature = key ? signed(statement, key) : null;
  const [counts] = await sql<{ rows: number; ends: number; late: number }[]>`
    with made as (
      update recorder.seals set made_at = ${madeAt.toISOString()}, statement = ${statement}, head = ${head},
        signature = ${signature?.signature ?? null}, public_key = ${signature?.publicKey ?? null}, error = null
      where seal = ${pending.seal})
    select coalesce(sum(rows), 0)::float8 as rows, coalesce(sum(ends), 0)::float8 as ends, coalesce(sum(late), 0)::float8 as late
    from recorder.seal_datasets where seal = ${pending.seal}`;
  return {
    seal: pending.seal,
    until: new Date(pending.until),
    head,
    statement,
    signature: signature?.signature ?? null,
    public_key: signature?.publicKey ?? null,
    rows: counts?.rows ?? 0,
    ends: counts?.ends ?? 0,
    late: counts?.late ?? 0,
  };
}

/** Seals what is new in one dataset. A second call adds only what is missing. @returns false when it was stopped */
async function sealDataset(
  sql: postgres.Sql,
  history: SealedHistory,
  pending: Pending,
  last: Range['before'],
  signal: AbortSignal,
): Promise<boolean> {
  const { dataset, form } = history;
  const [known] = await sql<
    { base: number; before: string | null; changes: string[]; newest: number; anew: boolean }[]
  >`
    select coalesce(max(d.seal) filter (where exists (select from unnest(d.changes) c where c like 'resealed:%')), 0) as base,
      (array_agg(d.head order by d.seal desc))[1] as before, c.changes, c.newest, c.anew
    from (select coalesce(array_agg(kind || ': ' || reason order by id), '{}') as changes, coalesce(max(id), 0) as newest,
        coalesce(bool_or(kind = 'resealed'), false) as anew
      from recorder.seal_changes where dataset = ${dataset} and seal is null) c
    left join recorder.seal_datasets d on d.dataset = ${dataset}
    group by c.changes, c.newest, c.anew`;
  const { base = 0, before: headBefore = null, changes = [], newest = 0, anew = false } = known ?? {};
  const since = anew ? pending.seal : base;
  // A dataset that is sealed for the first time, or anew, is sealed from its beginning.
  const before = headBefore === null || anew ? null : last;
  const range: Range = {
    from: '-infinity',
    to: pending.until,
    before,
    endFloor: before ? await endFloorOf(sql, history, before) : '-infinity',
    open: pending.open,
  };
  for (const { from, to } of await chunksOf(sql, history, range)) {
    if (signal.aborted) return false;
    await sql.unsafe(packing(history), [...given({ ...range, from, to }), dataset, pending.seal, since]);
  }
  const [made] = await sql.unsafe<{ rows: number; ends: number; late: number; root: string }[]>(
    `select coalesce(sum(cardinality(instants)) filter (where kind = 'row'), 0)::float8 as rows,
      coalesce(sum(cardinality(instants)) filter (where kind = 'end'), 0)::float8 as ends,
      coalesce(sum(case when instants[1] < $3::text::timestamptz then (select count(*) from unnest(instants) at where at < $3::text::timestamptz) end),
        0)::float8 as late, ${ROOT} as root
    from recorder.seal_parts where dataset = $1 and seal = $2`,
    [dataset, pending.seal, before?.until ?? '-infinity'],
  );
  if (!made) throw new Error(`nothing was read of the seal of ${dataset}`);
  if (made.rows + made.ends === 0 && headBefore !== null && changes.length === 0) return true;
  const name = nameOfForm(form);
  const head = datasetHead({ seal: pending.seal, dataset, form: name, ...made, changes, before: headBefore });
  await sql`
    with form as (
      insert into recorder.seal_forms (form, definition) values (${name}, ${JSON.stringify(form)}::text::jsonb) on conflict do nothing
    ), change as (
      update recorder.seal_changes set seal = ${pending.seal} where dataset = ${dataset} and seal is null and id <= ${newest}
    )
    insert into recorder.seal_datasets (dataset, seal, form, rows, ends, late, changes, root, before, head)
    values (${dataset}, ${pending.seal}, ${name}, ${made.rows}, ${made.ends}, ${made.late}, ${changes}::text[], ${made.root},
      ${headBefore}, ${head})`;
  return true;
}

/** SQL: the root hash of the tree over the parts of a seal. */
export const ROOT = `encode(sha256(convert_to(coalesce(string_agg(concat_ws(' ', kind, day, part, encode(node, 'hex'),
  encode(sha256(array_send(instants) || tags), 'hex')) || E'\\n', '' order by kind collate "C", day, part), ''), 'UTF8')), 'hex')`;

/**
 * The instant from which ends may have been set since the seal before, as PostgreSQL's text. It is before the end of that
 * seal when a run that began earlier went on, when a clock was behind, or when values that were observed earlier were read
 * later.
 */
export async function endFloorOf(
  sql: postgres.Sql,
  { dataset, form, writer }: SealedHistory,
  before: NonNullable<Range['before']>,
): Promise<string> {
  if (writer === 'observer' || form.to === null) return before.until;
  const [row] = await sql.unsafe<{ floor: string }[]>(
    `select least($1::text::timestamptz,
      (select min(r.started_at) from recorder.runs r where r.run_id >= $2 and $3 = any(r.datasets)),
      (select min(p.first_at) from recorder.packed_runs p where p.last_run >= $2),
      (select min(t.${form.from}) from recorder.${form.table} t where t.run_id >= $2))::text as floor`,
    [before.until, before.open.run, dataset],
  );
  return row?.floor ?? before.until;
}

/** The ranges of a dataset that a seal reads, one statement each: half-open, of whole hours, in order. */
async function chunksOf(
  sql: postgres.Sql,
  history: SealedHistory,
  range: Range,
): Promise<{ from: string; to: string }[]> {
  const { form } = history;
  const counts = kindsOf(form).map((kind) => {
    const at = `t.${kind === 'row' ? form.from : form.to}`;
    return `select date_trunc('hour', ${at}) as hour, count(*) as leaves from g, ${rowsOf(form)} t
      where ${[isInRange(form, kind), isFresh(history, kind), isSettled(history, kind)].join(' and ')} group by 1`;
  });
  return sql.unsafe<{ from: string; to: string }[]>(
    `with ${GIVEN}, hours as (select hour, sum(leaves) as leaves from (${counts.join(' union all ')}) counted group by hour),
      running as (select hour, sum(leaves) over (order by hour) as leaves from hours)
    select greatest(g.from_at, min(hour))::text as from, least(g.to_at, max(hour) + interval '1 hour')::text as to
    from running, g group by g.from_at, g.to_at, ceil(leaves / ${AT_ONCE}) order by min(hour)`,
    given(range),
  );
}

/**
 * The statement that adds parts for the leaves of a range that are new and not sealed yet. $1 to $9 as in {@link GIVEN};
 * $10 the dataset; $11 the seal; $12 the first seal whose parts count.
 */
function packing(history: SealedHistory): string {
  const { form } = history;
  const leaves = leavesOf(
    form,
    (kind) => [isInRange(form, kind), isFresh(history, kind), isSettled(history, kind)].join(' and '),
    () => 'false',
  );
  return `
    with ${GIVEN}, leaf as (${leaves}
    ), standing as materialized (
      select p.kind, p.day, p.seal, p.part, p.instants, p.tags || ''::bytea as tags from recorder.seal_parts p, g
      where p.dataset = $10 and p.seal >= $12 and p.day between (g.from_at at time zone 'UTC')::date and (g.to_at at time zone 'UTC')::date
    ), sealed as (
      select p.kind, u.instant, substr(p.tags, 9 * u.place::int - 8, 6) as id
      from standing p, unnest(p.instants) with ordinality as u(instant, place)
    ), placed as (
      -- A boolean in place of the kind: it is compared with every other row, and a text takes a fifth of the statement's time.
      select l.*, (row_number() over (partition by day, kind = 'end' order by instant, leaf) - 1) as at from leaf l
      where not exists (select from sealed s where s.kind = l.kind and s.instant = l.instant and s.id = l.id)
    ), numbered as (
      select p.*, (p.at / ${IN_A_PART})::int + coalesce(n.next, 0) as part from placed p
      left join (select kind, day, max(part) + 1 as next from standing where seal = $11 group by kind, day) n using (kind, day)
    )
    insert into recorder.seal_parts (dataset, day, kind, seal, part, instants, tags, node)
    select $10, day, kind, $11, part, array_agg(instant order by at),
      string_agg(id || substr(leaf, 1, 3), ''::bytea order by at), sha256(string_agg(leaf, ''::bytea order by at))
    from numbered group by day, kind, part`;
}
