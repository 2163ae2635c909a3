import { z } from 'zod';
import { FORMATS } from '../config/exports-schema.ts';
import type { Target } from './target.ts';
import { watermark } from './watermark.ts';

/** The name of a column. A manifest may be of strangers, and what it says of names and days becomes SQL. */
const name = z.string().regex(/^[a-z0-9_]+$/);

/** Where a file stands below the target: nothing outside is read or removed. */
const path = z
  .string()
  .regex(/^[\w=.-]+(\/[\w=.-]+)*$/)
  .refine((text) => !text.split('/').includes('..'));

const file = z.object({
  path,
  /** The day (UTC) of the instants from which on its rows count. */
  day: z.string().regex(/^-?\d{4,}-\d{2}-\d{2}$/),
  /** The number of the export that wrote it. */
  export: z.number(),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

export type ManifestFile = z.infer<typeof file>;

const column = z.object({
  name: z.string(),
  /** PostgreSQL's. */
  type: z.string(),
  /** What it is in the files: text, json (a text), boolean, bigint, double, instant, decimal. */
  stored: z.string(),
  /** Of decimals: digits behind the point. */
  scale: z.number().optional(),
  /** The number of the export with which it came. */
  since: z.number(),
});

const table = z.object({
  dataset: z.string(),
  kind: z.string(),
  /** With `from` they identify a version; of several rows of one the newest `exported_at` counts. */
  key: z.array(name),
  from: name,
  to: z.string().nullable(),
  format: z.enum(FORMATS),
  columns: z.array(column),
  /** Up to where the files hold the record. */
  watermark,
  exported_at: z.string(),
  files: z.array(file),
});

export type ManifestTable = z.infer<typeof table>;

const seal = z.object({ seal: z.number(), until: z.string(), head: z.string() });

export type ManifestSeal = z.infer<typeof seal>;

/** Tables beside those of datasets, as they stood at one moment: what makes a record of rows. Every value is PostgreSQL's text. */
const bookkeeping = z.object({
  exported_at: z.string(),
  format: z.enum(FORMATS),
  /** The newest seal whose parts are there. */
  seal: seal.nullable(),
  /** The last number of each column that numbers rows by itself, as `table.column`. */
  numbers: z.record(z.string(), z.string()),
  tables: z.record(
    z.string(),
    z.object({ columns: z.array(z.string()), files: z.array(file.omit({ day: true })) }),
  ),
});

const manifest = z.object({
  /** 1: without `bookkeeping`. */
  manifest: z.literal([1, 2]),
  /** The number of the export that wrote it. */
  export: z.number(),
  /** Tells exports of one number apart. */
  id: z.string(),
  /** By the clock of the database: what was committed before is in it. ISO 8601, to the microsecond. */
  exported_at: z.string(),
  /** The newest seal of the record that was exported; null: there is none. */
  seal: seal.nullable(),
  /** Its first seal; null: there is none, or an earlier version wrote the manifest. */
  first_seal: seal.nullable().default(null),
  tables: z.record(z.string(), table),
  /** Of the last export of all datasets; null: there was none. */
  bookkeeping: bookkeeping.nullable().default(null),
  /** Columns that came, by export. */
  changes: z.array(z.object({ export: z.number(), table: z.string(), added: z.array(z.string()) })),
  /** Files that stand in for nothing any more: the next export removes them. */
  superseded: z.array(path),
});

export type Manifest = z.infer<typeof manifest>;

/** For readers: a copy of the newest manifest. */
const COPY = 'manifest.json';
/** The manifests by number. The newest one counts; its name exists once, so that of two exporters one writes it. */
const FOLDER = 'manifests/';
const DIGITS = 8;

const numbered = (number: number) => `${FOLDER}${String(number).padStart(DIGITS, '0')}.json`;

/** The newest manifest of a target; null: nothing was exported there. @throws Error when it cannot be read */
export async function currentManifest(target: Target): Promise<Manifest | null> {
  const copy = await target.read(COPY);
  const known = copy === null ? null : parsed(copy, `${target.name}/${COPY}`);
  const newer = await target.list(FOLDER, known ? numbered(known.export) : '');
  const newest = newer.at(-1);
  if (newest === undefined) return known;
  const text = await target.read(newest);
  if (text === null) throw new Error(`${target.name}/${newest}: is listed, and cannot be read`);
  // An exporter was killed before it could copy it.
  // Who may only read reads it there the next time, too.
  await target.replace(COPY, text).catch(() => {});
  return parsed(text, `${target.name}/${newest}`);
}

/**
 * Makes a manifest the current one: from then on, and not before, its files count.
 * @returns false when another exporter was faster; nothing changes then
 */
export async function commitManifest(target: Target, next: Manifest): Promise<boolean> {
  const text = `${JSON.stringify(next, null, 1)}\n`;
  const path = numbered(next.export);
  // The answer to an attempt that was made may have been lost.
  if (!(await target.create(path, text)) && (await target.read(path)) !== text) return false;
  const [later] = await target.list(FOLDER, path);
  if (later === undefined) await target.replace(COPY, text);
  // The name has to stay, or a slow exporter could take it; what stood in it is of no use any more.
  if (next.export > 2) await target.replace(numbered(next.export - 2), '{}\n');
  return true;
}

function parsed(text: string, path: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${path}: is no JSON: it is not a manifest of chain-recorder`);
  }
  const result = manifest.safeParse(value);
  if (!result.success)
    throw new Error(`${path}: is no manifest that this version reads: ${z.prettifyError(result.error)}`);
  return result.data;
}
