import type postgres from 'postgres';
import { nameOfForm, readForm, type SealForm } from './form.ts';
import { grouped } from './grouped.ts';
import { type OpenWriters, readOpenWriters } from './leaves.ts';
import { ROOT } from './seal-dataset.ts';
import { type DatasetSeal, datasetHead, headOf, isSigned, statementText } from './statement.ts';

/** A finished seal, as it is stored. */
export interface StoredSeal {
  readonly seal: number;
  /** The end of what is sealed, as PostgreSQL's text. */
  readonly until: string;
  readonly open: OpenWriters;
  readonly head: string;
  readonly statement: string;
  readonly public_key: string | null;
}

/** The seals, and what is wrong with them. Recorded rows are not read for it. */
export interface Chain {
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

/**
 * Reads the seals and checks each one: its link to the seal before, its statement, its signature and its tree of hashes.
 * Recorded rows are not read.
 * @param publicKey SPKI in base64: every seal must be signed with it; undefined: a signature is checked with the key that
 * its seal names, and a seal without a signature is accepted
 */
export async function readChain(sql: postgres.Sql, publicKey: string | undefined): Promise<Chain> {
  const broken: string[] = [];
  const rows = await sql<SealRow[]>`
    select seal, until::text, until as until_at, made_at, open, head, statement, signature, public_key from recorder.seals
    where made_at is not null order by seal`;
  const last = rows.at(-1)?.seal ?? 0;
  const datasetSeals = await sql<(DatasetSeal & { head: string })[]>`
    select seal, dataset, form, rows::float8, ends::float8, late::float8, changes, root, before, head
    from recorder.seal_datasets where seal <= ${last} order by seal, dataset`;
  const roots = await sql.unsafe<
    { dataset: string; seal: number; root: string; rows: number; ends: number }[]
  >(
    `select dataset, seal, ${ROOT} as root,
      coalesce(sum(cardinality(instants)) filter (where kind = 'row'), 0)::float8 as rows,
      coalesce(sum(cardinality(instants)) filter (where kind = 'end'), 0)::float8 as ends
    from recorder.seal_parts where seal <= $1 group by dataset, seal`,
    [last],
  );
  const forms = await readForms(sql, broken);
  const rootOf = new Map(roots.map((one) => [`${one.dataset} ${one.seal}`, one]));
  const bySeal = grouped(datasetSeals, ({ seal }) => seal);
  const heads = new Map<string, string>();
  const datasets = new Map<string, DatasetSeal[]>();
  let before: SealRow | undefined;
  for (const row of rows) {
    const say = (problem: string) => broken.push(`seal ${row.seal}: ${problem}`);
    if (row.seal !== (before?.seal ?? 0) + 1)
      say(`the seals between it and ${before?.seal ?? 0} are not there`);
    for (const one of bySeal.get(row.seal) ?? []) {
      const of = `${one.dataset}: `;
      const made = rootOf.get(`${one.dataset} ${one.seal}`);
      rootOf.delete(`${one.dataset} ${one.seal}`);
      if (made && (made.root !== one.root || made.rows !== one.rows || made.ends !== one.ends))
        say(`${of}its tree of hashes is not the one that was sealed`);
      if (!made && one.rows + one.ends > 0) say(`${of}its tree of hashes is gone`);
      if (datasetHead(one) !== one.head) say(`${of}what it says has not the hash that it has`);
      if (one.before !== (heads.get(one.dataset) ?? null)) say(`${of}it does not continue the seal before`);
      if (!forms.has(one.form)) say(`${of}the form ${one.form} in which rows were read is gone`);
      heads.set(one.dataset, one.head);
      datasets.set(one.dataset, [...(datasets.get(one.dataset) ?? []), one]);
    }
    const text = statementText({
      seal: row.seal,
      until: row.until_at,
      madeAt: row.made_at,
      before: before?.head ?? null,
      heads: [...heads].map(([dataset, head]) => ({ dataset, head })),
    });
    if (text !== row.statement) say('its statement is not what its parts make');
    if (headOf(row.statement) !== row.head) say('its head is not the hash of its statement');
    if (row.signature && row.public_key && !isSigned(row.statement, row.signature, row.public_key))
      say('its signature is not of its statement');
    if (publicKey !== undefined && !(row.signature && isSigned(row.statement, row.signature, publicKey)))
      say('it is not signed with the given key');
    before = row;
  }
  for (const { dataset, seal } of rootOf.values())
    broken.push(`seal ${seal}: ${dataset}: it holds hashes that it does not speak of`);
  const seals = rows.map(({ open, ...row }) => ({ ...row, open: readOpenWriters(open) }));
  return { seals, datasets, forms, broken };
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
        // A definition that cannot be read was changed, too: see below.
      }
      broken.push(`the form ${form} in which rows were read was changed`);
      return [];
    }),
  );
}
