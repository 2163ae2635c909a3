import type postgres from 'postgres';
import { groupBy } from '../../lib/group-by.ts';
import { nameOfForm, readForm, type SealForm } from './form.ts';
import { type OpenWriters, readOpenWriters } from './leaves.ts';
import { ROOT } from './seal-dataset.ts';
import { type DatasetSeal, datasetHead, hashStatement, isSigned, statementText } from './statement.ts';

/** A finished seal, as it is stored. */
export interface StoredSeal {
  readonly seal: number;
  /** The end of the sealed time, in PostgreSQL's text format. */
  readonly until: string;
  readonly open: OpenWriters;
  readonly head: string;
  readonly statement: string;
  readonly public_key: string | null;
}

/** The seals and their problems, found without reading recorded rows. */
export interface SealChain {
  readonly seals: readonly StoredSeal[];
  /** The part of each seal about a dataset, by dataset, oldest first. */
  readonly datasets: ReadonlyMap<string, readonly DatasetSeal[]>;
  readonly forms: ReadonlyMap<string, SealForm>;
  readonly broken: readonly string[];
}

interface SealRow {
  readonly seal: number;
  readonly until: string;
  readonly until_at: Date;
  readonly made_at: Date;
  readonly open: unknown;
  readonly head: string;
  readonly statement: string;
  readonly signature: Buffer | null;
  readonly public_key: string | null;
}

/** The stored hash tree of a dataset in one seal. */
interface Tree {
  readonly dataset: string;
  readonly seal: number;
  readonly root: string;
  readonly rows: number;
  readonly ends: number;
}

/**
 * Reads the seals and validates each seal: its link to the previous seal, its statement, its signature and
 * its hash tree. Recorded rows are not read.
 * @param publicKey SPKI in base64: every seal must be signed with this key. Undefined: a signature is
 * verified with the key in its seal, and a seal without a signature is accepted
 */
export async function readChain(sql: postgres.Sql, publicKey: string | undefined): Promise<SealChain> {
  const broken: string[] = [];
  const rows = await sql<SealRow[]>`
    select seal, until::text, until as until_at, made_at, open, head, statement, signature, public_key from recorder.seals
    where made_at is not null order by seal`;
  const last = rows.at(-1)?.seal ?? 0;
  const datasetSeals = await sql<(DatasetSeal & { head: string })[]>`
    select seal, dataset, form, rows::float8, ends::float8, late::float8, changes, root, before, head
    from recorder.seal_datasets where seal <= ${last} order by seal, dataset`;
  const trees = await readTrees(sql, last);
  const forms = await readForms(sql, broken);
  const bySeal = groupBy(datasetSeals, ({ seal }) => seal);
  const heads = new Map<string, string>();
  let before: SealRow | undefined;
  for (const row of rows) {
    const report = (problem: string) => broken.push(`seal ${row.seal}: ${problem}`);
    if (row.seal !== (before?.seal ?? 0) + 1)
      report(`the seals between this seal and seal ${before?.seal ?? 0} are missing`);
    for (const one of bySeal.get(row.seal) ?? []) {
      for (const problem of partProblems(one, trees.get(treeKey(one)), heads.get(one.dataset) ?? null))
        report(`${one.dataset}: ${problem}`);
      if (!forms.has(one.form)) report(`${one.dataset}: the form ${one.form} of the rows is missing`);
      trees.delete(treeKey(one));
      heads.set(one.dataset, one.head);
    }
    for (const problem of sealProblems(row, before?.head ?? null, heads, publicKey)) report(problem);
    before = row;
  }
  for (const { dataset, seal } of trees.values())
    broken.push(
      `seal ${seal}: ${dataset}: there are hashes of this dataset, but the seal does not list the dataset`,
    );
  const seals = rows.map(({ open, ...row }) => ({ ...row, open: readOpenWriters(open) }));
  const parts = rows.flatMap(({ seal }) => bySeal.get(seal) ?? []);
  return { seals, datasets: groupBy(parts, ({ dataset }) => dataset), forms, broken };
}

const treeKey = ({ dataset, seal }: Pick<Tree, 'dataset' | 'seal'>) => `${dataset} ${seal}`;

/** Reads the hash trees up to a seal, by their keys. */
async function readTrees(sql: postgres.Sql, last: number): Promise<Map<string, Tree>> {
  const trees = await sql.unsafe<Tree[]>(
    `select dataset, seal, ${ROOT} as root,
      coalesce(sum(cardinality(instants)) filter (where kind = 'row'), 0)::float8 as rows,
      coalesce(sum(cardinality(instants)) filter (where kind = 'end'), 0)::float8 as ends
    from recorder.seal_parts where seal <= $1 group by dataset, seal`,
    [last],
  );
  return new Map(trees.map((tree) => [treeKey(tree), tree]));
}

/**
 * Returns the problems of the part of a seal about a dataset.
 * @param before the head of the previous seal that contains this dataset
 */
function partProblems(
  part: DatasetSeal & { readonly head: string },
  tree: Tree | undefined,
  before: string | null,
): string[] {
  const problems: string[] = [];
  if (tree && (tree.root !== part.root || tree.rows !== part.rows || tree.ends !== part.ends))
    problems.push('the hash tree differs from the sealed hash tree');
  if (!tree && part.rows + part.ends > 0) problems.push('the hash tree is missing');
  if (datasetHead(part) !== part.head) problems.push('the head does not match the content');
  if (part.before !== before) problems.push('the part does not continue the previous seal');
  return problems;
}

/**
 * Returns the problems of a seal, without the problems of its parts.
 * @param heads heads of the datasets, including the heads of this seal
 */
function sealProblems(
  row: SealRow,
  before: string | null,
  heads: ReadonlyMap<string, string>,
  publicKey: string | undefined,
): string[] {
  const problems: string[] = [];
  const text = statementText({
    seal: row.seal,
    until: row.until_at,
    madeAt: row.made_at,
    before,
    heads: [...heads].map(([dataset, head]) => ({ dataset, head })),
  });
  if (text !== row.statement) problems.push('the statement does not match the parts');
  if (hashStatement(row.statement) !== row.head) problems.push('the head is not the hash of the statement');
  if (row.signature && row.public_key && !isSigned(row.statement, row.signature, row.public_key))
    problems.push('the signature does not match the statement');
  if (publicKey !== undefined && !(row.signature && isSigned(row.statement, row.signature, publicKey)))
    problems.push('the seal is not signed with the given key');
  return problems;
}

async function readForms(sql: postgres.Sql, broken: string[]): Promise<Map<string, SealForm>> {
  const rows = await sql<
    { form: string; definition: unknown }[]
  >`select form, definition from recorder.seal_forms`;
  return new Map(
    rows.flatMap(({ form, definition }): [string, SealForm][] => {
      try {
        const read = readForm(definition);
        if (nameOfForm(read) === form) return [[form, read]];
      } catch {
        // An invalid definition is reported as changed below.
      }
      broken.push(`the form ${form} of sealed rows was changed`);
      return [];
    }),
  );
}
