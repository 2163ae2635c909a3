import { z } from 'zod';
import { QUESTION_SCHEMA } from '../db/question-functions.ts';
import type { Snapshot } from '../db/snapshot.ts';
import { newestSeal } from '../warehouse/record-seals.ts';

/** What is counted and hashed of a record, so that two can be compared. */
export const contents = z.object({
  /** How many rows each table has, by its name with the schema. */
  tables: z.record(z.string(), z.number()),
  /** SHA-256 over coverage and gaps, as rows of text in order. */
  coverage: z.string(),
  /** The newest seal; null: nothing is sealed. */
  seal: z.object({ seal: z.number(), until: z.string(), head: z.string() }).nullable(),
});

export type Contents = z.infer<typeof contents>;

/** The queue, which plans fill anew from what is recorded; the mark of a restore that is under way; functions that a migration makes. */
export const LEFT_OUT = ['bullmq', 'recorder_restore', QUESTION_SCHEMA] as const;

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and n.nspname not in (${LEFT_OUT.map((name) => `'${name}'`).join(', ')})
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1`;

const COVERAGE = `
  select encode(sha256(convert_to(concat(
    (select string_agg(c::text, E'\\n' order by c.dataset collate "C", c.target_key collate "C") from recorder.coverage c), E'\\n\\n',
    (select string_agg(g::text, E'\\n' order by g.dataset collate "C", g.target_key collate "C", g.range) from recorder.gaps g)
  ), 'UTF8')), 'hex') as digest`;

/**
 * Counts and hashes what a snapshot sees. Every table is read, on one core.
 * @param counted told how many tables are done, of how many
 */
export async function readContents(
  snapshot: Snapshot,
  counted: (done: number, all: number) => void = () => {},
): Promise<Contents> {
  const names = (await snapshot.rows(TABLES)).map(({ name }) => String(name));
  const tables: Record<string, number> = {};
  for (const [at, name] of names.entries()) {
    counted(at, names.length);
    const [row] = await snapshot.rows(`select count(*)::float8 as rows from ${name}`);
    tables[name] = Number(row?.rows);
  }
  const [row] = await snapshot.rows(COVERAGE);
  counted(names.length, names.length);
  return { tables, coverage: String(row?.digest), seal: await newestSeal(snapshot) };
}

/** What differs between two records, in sentences. @param before what was backed up @param now what was restored */
export function differences(before: Contents, now: Contents): string[] {
  const names = [...new Set([...Object.keys(before.tables), ...Object.keys(now.tables)])];
  const counts = names
    .filter((name) => before.tables[name] !== now.tables[name])
    .map(
      (name) =>
        `${name}: ${before.tables[name] ?? 'no table'} rows in the backup, ${now.tables[name] ?? 'no table'} restored`,
    );
  const others = [
    ...(before.coverage === now.coverage ? [] : ['coverage and gaps are not those of the backup']),
    ...(before.seal?.head === now.seal?.head ? [] : ['the newest seal is not that of the backup']),
  ];
  return [...counts, ...others];
}
