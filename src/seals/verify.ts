import type postgres from 'postgres';
import { openSealing } from '../db/client.ts';
import { messageOf } from '../errors.ts';
import { type Chain, readChain, type StoredSeal } from './chain.ts';
import { type SealedHistory, type SealForm, sealedHistories } from './form.ts';
import { grouped } from './grouped.ts';
import { GIVEN, given, identityOf, isFresh, isInRange, leavesOf, type Range } from './leaves.ts';
import { endFloorOf } from './seal.ts';
import type { DatasetSeal } from './statement.ts';

/** The most leaves that one statement compares, unless one day has more. */
const AT_ONCE = 1_000_000;
/** The longest that a statement may take, ms. It is a day, because a person waits for it and can stop it. */
const LONGEST = 86_400_000;
/** The most differences of each kind that one statement names. The rest of `gone` and `extra` is only counted. */
const NAMED = 1_000;

/** A difference between the record and what was sealed. */
export interface Difference {
  readonly dataset: string;
  /** The day (UTC) to which it belongs. */
  readonly day: string;
  /** `row`: the recorded values; `end`: when and how the row ended. */
  readonly of: 'row' | 'end';
  /**
   * `changed`: it has other values; `moved`: it has another instant; `gone`: it is missing; `added`: it was not sealed;
   * `among`: one of the rows of a part was changed, and which one cannot be told, because all short marks are the same.
   */
  readonly what: 'changed' | 'moved' | 'gone' | 'added' | 'among';
  /** When it was recorded or ended: as sealed; for `added`, as it is now. ISO 8601, to the microsecond. */
  readonly at: string;
  /** For `moved`, the instant that it has now; null for all others. */
  readonly now: string | null;
  /** The key as JSON, for readings the run and its target; null: no row with this key is left. */
  readonly key: string | null;
  /** The first six bytes of the hash of the key, in hexadecimal. */
  readonly id: string;
}

/** The result of `verify`. */
export interface Verified {
  /** The newest seal; null: nothing is sealed yet. */
  readonly seal: number | null;
  readonly until: Date | null;
  readonly head: string | null;
  /** How many rows, and ends of rows, were found again as they were sealed. */
  readonly rows: number;
  readonly ends: number;
  /** How many came late. The next seal takes them. */
  readonly unsealed: number;
  /** How many are missing because their removal was declared. */
  readonly removed: number;
  /** The declared changes of sealed rows. */
  readonly declared: readonly Declared[];
  /** What is wrong with the seals themselves, in sentences. */
  readonly broken: readonly string[];
  readonly differences: readonly Difference[];
  /** How many differences are not named. */
  readonly more: number;
}

/** A declared change of sealed rows. */
export interface Declared {
  readonly dataset: string;
  readonly kind: string;
  readonly reason: string;
  readonly before_at: Date | null;
  readonly declared_at: Date;
  /** The first seal after it; null: there is none yet. */
  readonly seal: number | null;
}

/** The input of {@link verify}. */
export interface Verification {
  readonly databaseUrl: string;
  /** ms since 1970; undefined: from the beginning, or up to the newest seal. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** A statement that a reader kept: it must be the statement of one of the seals. */
  readonly kept?: string | undefined;
  /** SPKI in base64: every seal must be signed with it. */
  readonly publicKey?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Checks the record against its seals: the chain of seals, and every row of the given time. Writes nothing. */
export async function verify(options: Verification): Promise<Verified> {
  const sql = openSealing(options.databaseUrl, LONGEST);
  try {
    const chain = await readChain(sql, options.publicKey);
    const declared = await sql<Declared[]>`
      select dataset, kind, reason, before_at, declared_at, seal from recorder.seal_changes order by id`;
    const newest = chain.seals.at(-1);
    const broken = [...chain.broken, ...(options.kept === undefined ? [] : heldAgainst(chain, options.kept))];
    const total = { rows: 0, ends: 0, unsealed: 0, removed: 0, more: 0 };
    const differences: Difference[] = [];
    for (const [dataset, seals] of newest ? chain.datasets : []) {
      if (!newest || options.signal?.aborted) break;
      const changes = declared.filter((one) => one.dataset === dataset);
      // All rows of this dataset are to be sealed again: the seals until now do not fit its values any more.
      if (changes.some(({ kind, seal }) => kind === 'resealed' && (seal === null || seal > newest.seal)))
        continue;
      try {
        const found = await verifyDataset(sql, dataset, seals, chain, newest, changes, options);
        for (const count of ['rows', 'ends', 'unsealed', 'removed', 'more'] as const)
          total[count] += found[count];
        differences.push(...found.differences);
      } catch (error) {
        // A table or a column that was sealed is missing.
        if (!namesNothing(error)) throw error;
        broken.push(`${dataset} cannot be read as it was sealed: ${messageOf(error)}`);
      }
    }
    return {
      seal: newest?.seal ?? null,
      until: newest ? new Date(newest.until) : null,
      head: newest?.head ?? null,
      declared: [...declared],
      broken,
      differences,
      ...total,
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Whether PostgreSQL refused a statement because it names something that does not exist. */
const namesNothing = (error: unknown) =>
  error instanceof Error && 'code' in error && ['42P01', '42703', '42883'].includes(String(error.code));

/** Finds a kept statement among the seals. @returns what is wrong; an empty list when it is one of them */
function heldAgainst({ seals }: Chain, kept: string): string[] {
  const number = Number(/^number (\d+)$/m.exec(kept)?.[1]);
  const seal = seals.find((one) => one.seal === number);
  if (!kept.startsWith('chain-recorder seal 1\n') || Number.isNaN(number))
    return ['what was kept is no seal'];
  if (!seal) return [`seal ${number}, which was kept, is not there`];
  return seal.statement.trimEnd() === kept.trimEnd() ? [] : [`seal ${number} is not the one that was kept`];
}

/** A leaf that is only sealed or only in the record, as the comparison returns it; with `among`, a leaf of a wrong part. */
interface Lone {
  readonly what: 'gone' | 'extra' | 'among';
  readonly kind: 'row' | 'end';
  readonly day: string;
  readonly instant: string;
  readonly id: string;
  readonly key: string | null;
}

interface Compared {
  readonly rows: number;
  readonly ends: number;
  readonly unsealed: number;
  readonly gone: number;
  readonly extra: number;
  readonly among: number;
  readonly lone: readonly Lone[] | null;
}

async function verifyDataset(
  sql: postgres.Sql,
  dataset: string,
  seals: readonly DatasetSeal[],
  { forms }: Chain,
  newest: StoredSeal,
  changes: readonly Declared[],
  { from, to }: Verification,
) {
  const base =
    seals.findLast((one) => one.changes.some((change) => change.startsWith('resealed:')))?.seal ?? 0;
  const used = [...new Set(seals.filter(({ seal }) => seal >= base).map(({ form }) => form))];
  const known = used.flatMap((name) => forms.get(name) ?? []);
  const form = known.at(-1);
  const result = { rows: 0, ends: 0, unsealed: 0, removed: 0, more: 0, differences: [] as Difference[] };
  if (!form) return result;
  const history: SealedHistory = {
    dataset,
    form,
    writer: sealedHistories.find((one) => one.dataset === dataset)?.writer ?? 'run',
  };
  const range: Range = {
    from: from === undefined ? '-infinity' : new Date(from).toISOString(),
    to: to === undefined ? newest.until : new Date(Math.min(to, Date.parse(newest.until))).toISOString(),
    before: newest,
    endFloor: await endFloorOf(sql, history, newest),
    open: newest.open,
  };
  const lone: Lone[] = [];
  const text = comparing(
    history,
    used.flatMap((name) => (forms.has(name) ? [name] : [])),
    known,
  );
  for (const part of await chunksOf(sql, dataset, base, newest.seal, range)) {
    const [compared] = await sql.unsafe<Compared[]>(text, [
      ...given({ ...range, ...part }),
      dataset,
      newest.seal,
      base,
    ]);
    if (!compared) continue;
    result.rows += compared.rows;
    result.ends += compared.ends;
    result.unsealed += compared.unsealed;
    for (const found of [compared.gone, compared.extra, compared.among])
      result.more += Math.max(0, found - NAMED);
    lone.push(...(compared.lone ?? []));
  }
  const removedBefore = Math.max(
    ...changes.flatMap(({ kind, before_at }) =>
      kind === 'removed' && before_at ? [before_at.getTime()] : [],
    ),
  );
  const paired = pair(dataset, lone);
  result.differences = paired.filter(({ what, at }) => what !== 'gone' || !(Date.parse(at) < removedBefore));
  result.removed = paired.length - result.differences.length;
  result.differences = await named(sql, form, result.differences);
  return result;
}

/** Splits a range into half-open ranges of whole days, each with about {@link AT_ONCE} sealed leaves. */
async function chunksOf(
  sql: postgres.Sql,
  dataset: string,
  base: number,
  newest: number,
  { from, to }: Range,
): Promise<{ from: string; to: string }[]> {
  const rows = await sql<{ from: string }[]>`
    with days as (
      select day, sum(sum(cardinality(instants))) over (order by day) as leaves from recorder.seal_parts
      where dataset = ${dataset} and seal between ${base} and ${newest}
        and day >= (${from}::text::timestamptz at time zone 'UTC')::date and day < (${to}::text::timestamptz at time zone 'UTC')::date
      group by day)
    select (min(day)::timestamp at time zone 'UTC')::text as from from days group by ceil(leaves / ${AT_ONCE}) order by min(day)`;
  const begins = [from, ...rows.slice(1).map((row) => row.from)];
  return begins.map((begin, at) => ({ from: begin, to: begins[at + 1] ?? to }));
}

/**
 * The statement that compares the leaves of the record with those that were sealed. $1 to $9 as in {@link GIVEN}; $10 the
 * dataset; $11 the newest seal; $12 the first seal whose parts count.
 */
function comparing(history: SealedHistory, names: readonly string[], forms: readonly SealForm[]): string {
  const leaves = forms.map(
    (form, at) =>
      `select '${names[at]}'::text as form, l.* from (${leavesOf(
        form,
        (kind) => isInRange(form, kind),
        (kind) => isFresh({ ...history, form }, kind),
      )}) l`,
  );
  const { form } = history;
  const key = `(select ${keyOf(form)} from recorder.${form.table} t where t.ctid = j.row)`;
  // When seals have several forms, rows are read in each of them. A row counts as sealed when it was sealed in any form.
  const elsewhere =
    forms.length === 1
      ? ''
      : `and j.form = '${names.at(-1)}' and not exists (
          select from joined o where o.kind = j.kind and o.row = j.row and o.seal is not null)`;
  return `
    with ${GIVEN}, leaf as (
      select *, id || substr(leaf, 1, 3) as tag from (${leaves.join(' union all ')}) leaves
    ), numbered as (
      select *, row_number() over (partition by form, kind, instant, tag order by leaf) as nth from leaf
    ), standing as materialized (
      select p.kind, p.day, p.seal, p.part, p.node, p.instants, p.tags || ''::bytea as tags, d.form
      from g, recorder.seal_parts p join recorder.seal_datasets d using (dataset, seal)
      where p.dataset = $10 and p.seal between $12 and $11
        and p.day between (g.from_at at time zone 'UTC')::date and (g.to_at at time zone 'UTC')::date
    ), sealed as (
      select *, row_number() over (partition by form, kind, instant, tag order by seal, part, at) as nth
      from (select p.form, p.kind, p.day, p.seal, p.part, u.instant, u.at, substr(p.tags, 9 * u.at::int - 8, 9) as tag,
          cardinality(p.instants) as size, case u.at when 1 then p.node end as node
        from g, standing p, unnest(p.instants) with ordinality as u(instant, at)
        where u.instant >= g.from_at and u.instant < g.to_at) parts
    ), joined as materialized (
      select form, kind, coalesce(s.day, l.day) as day, instant, substr(tag, 1, 6) as id, s.seal, s.part, s.at, s.size, s.node, l.leaf,
        l.place as row, l.flag
      from sealed s full join numbered l using (form, kind, instant, tag, nth)
    ), wrong_parts as materialized (
      -- A part that is not whole was found by what is gone; its hash cannot be made again.
      select kind, day, seal, part from joined where seal is not null group by kind, day, seal, part
      having count(leaf) = max(size) and sha256(string_agg(leaf, ''::bytea order by at)) <> (array_agg(node order by at))[1]
    ), wrong as (
      select j.* from joined j join wrong_parts using (kind, day, seal, part)
    ), absent as materialized (
      select kind, day, instant, id from joined where leaf is null
    ), unsealed as materialized (
      -- What may have come late is no late row where it stands in the place of another.
      select j.kind, j.day, j.instant, j.id, j.row, not flag or (kind, id) in (select kind, id from absent) as strange
      from joined j where j.seal is null ${elsewhere}
    ), gone as (
      select 'gone' as what, kind, day, instant, id, null::text as key from absent limit ${NAMED}
    ), extra as (
      select 'extra' as what, kind, day, instant, id, ${key} as key from unsealed j where strange limit ${NAMED}
    ), among as (
      select 'among' as what, kind, day, instant, id, ${key} as key from wrong j limit ${NAMED}
    )
    select c.*, (
      select jsonb_agg(jsonb_build_object('what', what, 'kind', kind, 'day', day::text, 'instant',
        coalesce(to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), instant::text), 'id', encode(id, 'hex'), 'key', key) order by instant)
      from (table gone union all table extra union all table among) lone) as lone
    from (select
      (count(*) filter (where j.seal is not null and leaf is not null and w.part is null and kind = 'row'))::float8 as rows,
      (count(*) filter (where j.seal is not null and leaf is not null and w.part is null and kind = 'end'))::float8 as ends,
      (select count(*) from unsealed where not strange)::float8 as unsealed,
      (select count(*) from absent)::float8 as gone,
      (select count(*) from unsealed where strange)::float8 as extra,
      (select count(*) from wrong)::float8 as among
      from joined j left join wrong_parts w using (kind, day, seal, part)) c`;
}

/** SQL: the key of the row `t` as the text of a JSON object. */
function keyOf(form: SealForm): string {
  if (form.unit === 'look')
    return `(select json_build_object('run_id', t.run_id, 'target', (select r.target_key from recorder.runs r where r.run_id = t.run_id)))::text`;
  return `json_build_object(${form.key.map(({ name }) => `'${name}', t.${name}`).join(', ')})::text`;
}

/** Pairs a leaf that is gone with the leaf that replaced it: `changed` at the same instant, `moved` at another one. */
function pair(dataset: string, lone: readonly Lone[]): Difference[] {
  const as = (
    { kind, day, instant, id, key }: Lone,
    what: Difference['what'],
    now: Lone | null = null,
  ): Difference => ({
    dataset,
    day,
    of: kind,
    what,
    at: instant,
    now: now && now.instant !== instant ? now.instant : null,
    key: now?.key ?? key,
    id,
  });
  const left = new Set(lone.filter(({ what }) => what === 'extra'));
  const places = grouped(left, ({ kind, id }) => `${kind} ${id}`);
  const take = (gone: Lone, same: boolean) => {
    const found = places
      .get(`${gone.kind} ${gone.id}`)
      ?.find((one) => left.has(one) && (one.instant === gone.instant) === same);
    if (found) left.delete(found);
    return found;
  };
  const gone = lone.filter(({ what }) => what === 'gone');
  const changed = gone.map((one) => ({ one, other: take(one, true) }));
  const differences = changed.map(({ one, other }) => {
    if (other) return as(one, 'changed', other);
    const elsewhere = take(one, false);
    return elsewhere ? as(one, 'moved', elsewhere) : as(one, 'gone');
  });
  return [
    ...differences,
    ...[...left].map((one) => as(one, 'added')),
    ...lone.filter(({ what }) => what === 'among').map((one) => as(one, 'among')),
  ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

/** Adds the keys of what is gone. They are found in other versions of the key, or for readings in the runs. */
async function named(
  sql: postgres.Sql,
  form: SealForm,
  differences: readonly Difference[],
): Promise<Difference[]> {
  const ids = [...new Set(differences.filter(({ key }) => key === null).map(({ id }) => id))];
  if (ids.length === 0) return [...differences];
  const table = form.unit === 'look' ? 'runs' : form.table;
  const rows = await sql.unsafe<{ id: string; key: string }[]>(
    `select distinct on (id) encode(${identityOf(form)}, 'hex') as id, ${keyOf(form)} as key
    from recorder.${table} t where encode(${identityOf(form)}, 'hex') = any($1::text::text[])`,
    [`{${ids.join(',')}}`],
  );
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  return differences.map((one) => ({ ...one, key: one.key ?? keys.get(one.id) ?? null }));
}

/** A difference as a sentence. */
export function inWords({ dataset, day, of, what, at, now, key, id }: Difference): string {
  const whose = key ?? `of a key whose hash begins with ${id}`;
  const was = of === 'row' ? 'recorded' : 'ended';
  const words = {
    changed:
      of === 'row'
        ? 'the row says something else'
        : 'what is said of the end, or since when the row is, is something else',
    moved: `it was ${was} then when it was sealed, and at ${now} by what stands now`,
    gone: of === 'row' ? 'the row is gone' : 'the end is gone',
    added: of === 'row' ? 'the row was added after the seal' : 'the end was set after the seal',
    among: 'this row, or another one that was sealed with it, says something else',
  };
  return `${dataset}, ${day}, ${was} at ${at}: ${whose}: ${words[what]}`;
}
