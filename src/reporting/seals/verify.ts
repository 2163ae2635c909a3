import type postgres from 'postgres';
import { openSealConnection } from '../../db/client.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { readChain, type SealChain, type StoredSeal } from './chain.ts';
import { compareLeavesSql, type LeafComparison, MAX_LISTED, type UnmatchedLeaf } from './compare-leaves.ts';
import { addMissingKeys, pairLeaves, type SealDifference } from './difference.ts';
import { type SealedHistory, sealedHistories } from './form.ts';
import { type LeafRange, leafInputParams } from './leaves.ts';
import { endFloorOf } from './seal-dataset.ts';
import type { DatasetSeal } from './statement.ts';

/** Maximum number of leaves that one statement compares, unless one day has more leaves. */
const MAX_LEAVES_PER_STATEMENT = 1_000_000;
/** Statement timeout, in ms: one day, because a person waits for the result and can stop the command. */
const STATEMENT_TIMEOUT_MS = 86_400_000;

/** The result of `verify`. */
export interface VerifyResult {
  /** The newest seal; null if nothing is sealed yet. */
  readonly seal: number | null;
  readonly until: Date | null;
  readonly head: string | null;
  /** The number of rows that are unchanged since they were sealed. */
  readonly rows: number;
  /** The number of ends of rows that are unchanged since they were sealed. */
  readonly ends: number;
  /** The number of late rows and ends. The next seal includes these rows and ends. */
  readonly unsealed: number;
  /** Number of missing rows and ends whose removal was declared. */
  readonly removed: number;
  /** The declared changes of sealed rows. */
  readonly declared: readonly DeclaredChange[];
  /** The problems of the seals themselves, as sentences. */
  readonly broken: readonly string[];
  readonly differences: readonly SealDifference[];
  /** The number of differences that are not listed. */
  readonly more: number;
}

/** A declared change of sealed rows. */
export interface DeclaredChange {
  readonly dataset: string;
  readonly kind: string;
  readonly reason: string;
  readonly before_at: Date | null;
  readonly declared_at: Date;
  /** First seal after the change; null if no seal was made after the change. */
  readonly seal: number | null;
}

/** The input of {@link verify}. */
export interface VerificationOptions {
  readonly databaseUrl: string;
  /** Inclusive start of the verified time, in the format of PostgreSQL. Default: the start of the record. */
  readonly from?: string | undefined;
  /** Exclusive end of the verified time. Default: the end of the newest seal. */
  readonly to?: string | undefined;
  /** A statement that a reader stored. One of the seals must have this statement. */
  readonly kept?: string | undefined;
  /** SPKI in base64: every seal must be signed with this key. */
  readonly publicKey?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Verifies the recorded data against its seals: the chain of seals, and every row of the requested time.
 * Writes nothing.
 */
export async function verify(options: VerificationOptions): Promise<VerifyResult> {
  const sql = openSealConnection(options.databaseUrl, STATEMENT_TIMEOUT_MS);
  try {
    const chain = await readChain(sql, options.publicKey);
    const declared = await sql<DeclaredChange[]>`
      select dataset, kind, reason, before_at, declared_at, seal from recorder.seal_changes order by id`;
    const newest = chain.seals.at(-1);
    const broken = [
      ...chain.broken,
      ...(options.kept === undefined ? [] : findKeptStatement(chain, options.kept)),
    ];
    const total = { rows: 0, ends: 0, unsealed: 0, removed: 0, more: 0 };
    let differences: SealDifference[] = [];
    for (const [dataset, seals] of newest ? chain.datasets : []) {
      if (!newest || options.signal?.aborted) break;
      const changes = declared.filter((one) => one.dataset === dataset);
      // All rows of this dataset are to be sealed again: the existing seals no longer match its values.
      if (changes.some(({ kind, seal }) => kind === 'resealed' && (seal === null || seal > newest.seal)))
        continue;
      try {
        const found = await verifyDataset(sql, dataset, seals, chain, newest, changes, options);
        for (const count of ['rows', 'ends', 'unsealed', 'removed', 'more'] as const)
          total[count] += found[count];
        differences = differences.concat(found.differences);
      } catch (error) {
        // A table or column that was sealed is missing.
        if (!isUndefinedObject(error)) throw error;
        broken.push(`${dataset} cannot be read in its sealed form: ${toErrorMessage(error)}`);
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

/**
 * Returns true if PostgreSQL rejected a statement because it refers to a missing table, column or function.
 */
const isUndefinedObject = (error: unknown) =>
  error instanceof Error && 'code' in error && ['42P01', '42703', '42883'].includes(String(error.code));

/**
 * Searches the seals for a kept statement.
 * @returns the problems; an empty list if the statement belongs to one of the seals
 */
function findKeptStatement({ seals }: SealChain, kept: string): string[] {
  const number = Number(/^number (\d+)$/m.exec(kept)?.[1]);
  const seal = seals.find((one) => one.seal === number);
  if (!kept.startsWith('chain-recorder seal 1\n') || Number.isNaN(number))
    return ['the kept text is not the statement of a seal'];
  if (!seal) return [`seal ${number} of the kept statement is missing`];
  return seal.statement.trimEnd() === kept.trimEnd()
    ? []
    : [`seal ${number} differs from the kept statement`];
}

async function verifyDataset(
  sql: postgres.Sql,
  dataset: string,
  seals: readonly DatasetSeal[],
  { forms }: SealChain,
  newest: StoredSeal,
  changes: readonly DeclaredChange[],
  { from, to }: VerificationOptions,
) {
  const base =
    seals.findLast((one) => one.changes.some((change) => change.startsWith('resealed:')))?.seal ?? 0;
  const used = [...new Set(seals.filter(({ seal }) => seal >= base).map(({ form }) => form))];
  const known = used.flatMap((name) => forms.get(name) ?? []);
  const form = known.at(-1);
  const result = { rows: 0, ends: 0, unsealed: 0, removed: 0, more: 0, differences: [] as SealDifference[] };
  if (!form) return result;
  const history: SealedHistory = {
    dataset,
    form,
    writer: sealedHistories.find((one) => one.dataset === dataset)?.writer ?? 'run',
  };
  const range: LeafRange = {
    from: from ?? '-infinity',
    to: to === undefined || Date.parse(to) >= Date.parse(newest.until) ? newest.until : to,
    before: newest,
    endFloor: await endFloorOf(sql, history, newest),
    open: newest.open,
  };
  const lone: UnmatchedLeaf[] = [];
  const removals = changes.flatMap(({ kind, before_at }) =>
    kind === 'removed' && before_at ? [before_at.getTime()] : [],
  );
  const removedBefore = removals.length > 0 ? new Date(Math.max(...removals)).toISOString() : '-infinity';
  const text = compareLeavesSql(
    history,
    used.flatMap((name) => (forms.has(name) ? [name] : [])),
    known,
  );
  for (const part of await chunksOf(sql, dataset, base, newest.seal, range)) {
    const [compared] = await sql.unsafe<LeafComparison[]>(text, [
      ...leafInputParams({ ...range, ...part }),
      dataset,
      newest.seal,
      base,
      removedBefore,
    ]);
    if (!compared) continue;
    result.rows += compared.rows;
    result.ends += compared.ends;
    result.unsealed += compared.unsealed;
    result.removed += compared.removed;
    for (const found of [compared.missing, compared.extra, compared.among])
      result.more += Math.max(0, found - MAX_LISTED);
    lone.push(...(compared.lone ?? []));
  }
  result.differences = await addMissingKeys(sql, form, pairLeaves(dataset, lone));
  return result;
}

/**
 * Splits a range into ranges of whole days, each with about {@link MAX_LEAVES_PER_STATEMENT} sealed leaves:
 * inclusive start, exclusive end.
 */
async function chunksOf(
  sql: postgres.Sql,
  dataset: string,
  base: number,
  newest: number,
  { from, to }: LeafRange,
): Promise<{ from: string; to: string }[]> {
  const rows = await sql<{ from: string }[]>`
    with days as (
      select day, sum(sum(cardinality(instants))) over (order by day) as leaves from recorder.seal_parts
      where dataset = ${dataset} and seal between ${base} and ${newest}
        and day >= (${from}::text::timestamptz at time zone 'UTC')::date and day < (${to}::text::timestamptz at time zone 'UTC')::date
      group by day)
    select (min(day)::timestamp at time zone 'UTC')::text as from from days group by ceil(leaves / ${MAX_LEAVES_PER_STATEMENT}) order by min(day)`;
  const begins = [from, ...rows.slice(1).map((row) => row.from)];
  return begins.map((begin, at) => ({ from: begin, to: begins[at + 1] ?? to }));
}
