import { createHash } from 'node:crypto';
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
  numbers: z.record(z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]+$/), z.string().regex(/^\d{1,19}$/)),
  tables: z.record(
    z.string(),
    z.object({ columns: z.array(z.string()), files: z.array(file.omit({ day: true })) }),
  ),
});

/** Rows that no file holds any more: their file was lost, and the database had removed them before. */
const lostRows = z.object({ export: z.number(), table: name, day: file.shape.day, rows: z.number() });

export type LostRows = z.infer<typeof lostRows>;

const manifest = z.object({
  /** The version of this format. */
  manifest: z.literal(1),
  /** The version of chain-recorder that wrote it. */
  recorder: z.string(),
  /** The number of the export that wrote it. */
  export: z.number(),
  /** Tells exports of one number apart. */
  id: z.string(),
  /** By the clock of the database: what was committed before is in it. ISO 8601, to the microsecond. */
  exported_at: z.string(),
  /** The newest seal of the record that was exported; null: there is none. */
  seal: seal.nullable(),
  /** Its first seal; null: there is none. */
  first_seal: seal.nullable(),
  tables: z.record(name, table),
  /** Of the last export of all datasets; null: there was none. */
  bookkeeping: bookkeeping.nullable(),
  /** Columns that came, by export. */
  changes: z.array(z.object({ export: z.number(), table: z.string(), added: z.array(z.string()) })),
  /** Files that stand in for nothing any more: the next export removes them. */
  superseded: z.array(path),
  lost: z.array(lostRows),
});

export type Manifest = z.infer<typeof manifest>;

/** For readers: a copy of the newest manifest. */
const COPY = 'manifest.json';
/** The manifests by number. The newest one counts; its name exists once, so that of two exporters one writes it. */
const FOLDER = 'manifests/';
const DIGITS = 8;

const numbered = (number: number) => `${FOLDER}${String(number).padStart(DIGITS, '0')}.json`;

/** The manifests of a target. */
export interface Manifests {
  /** The newest one that is whole; null: there is none. */
  readonly newest: Manifest | null;
  /** The highest number that was given to a manifest; 0: none was. */
  readonly last: number;
  /** Paths of those that were cut or changed after they were written. */
  readonly damaged: readonly string[];
}

/**
 * Reads the manifests of a target. One that was cut or changed after it was written does not count.
 * @throws Error if one is of another version, or `manifest.json` is a file of something else
 */
export async function readManifests(target: Target): Promise<Manifests> {
  const listed = await target.list(FOLDER, '');
  const last = Number(/(\d+)\.json$/.exec(listed.at(-1) ?? '')?.[1] ?? 0);
  const damaged: string[] = [];
  let newest: Manifest | null = null;
  // The one before the newest holds until the next export: its files are not removed before.
  for (const path of [...listed.slice(-2).reverse(), COPY]) {
    const text = await target.read(path);
    if (text === null) continue;
    const found = parseManifest(text, `${target.name}/${path}`, path === COPY && last === 0);
    if (found === null) damaged.push(path);
    else if (newest === null || found.export > newest.export) newest = found;
  }
  return { newest, last: Math.max(last, newest?.export ?? 0), damaged };
}

/**
 * Returns the newest manifest of a target, or null if nothing was exported there.
 * @throws Error if the newest one was cut or changed after it was written, or is of another version
 */
export async function currentManifest(target: Target): Promise<Manifest | null> {
  const { newest, last, damaged } = await readManifests(target);
  const [path] = damaged;
  if (path !== undefined && (newest === null || newest.export < last))
    throw new Error(
      `${target.name}/${path}: the manifest was changed after it was written: take it from another copy, or let "chain-recorder export --incremental" write a new one`,
    );
  return newest;
}

/**
 * Makes a manifest the current one: from then on, and not before, its files count.
 * @returns false if another exporter was faster; nothing changes then
 */
export async function commitManifest(target: Target, next: Manifest): Promise<boolean> {
  const text = manifestText(next);
  const path = numbered(next.export);
  // The answer to an attempt that was made may have been lost.
  if (!(await target.create(path, text)) && (await target.read(path)) !== text) return false;
  const [later] = await target.list(FOLDER, path);
  if (later === undefined) await target.replace(COPY, text);
  // The name has to stay, or a slow exporter could take it; its content is of no use any more.
  if (next.export > 2) await target.replace(numbered(next.export - 2), '{}\n');
  return true;
}

/** Returns a manifest as a file, with the SHA-256 of the manifest without this line. */
export function manifestText(next: Manifest): string {
  return `${JSON.stringify({ ...next, sha256: checksumOf(next) }, null, 1)}\n`;
}

const checksumOf = (content: object) => createHash('sha256').update(JSON.stringify(content)).digest('hex');

const jsonObject = z.record(z.string(), z.unknown());

/**
 * Returns null if the text was cut or changed after it was written.
 * @param foreign whether the file may be of something else, which has a file of this name, too
 * @throws Error if it is the manifest of another version, or of something else
 */
function parseManifest(text: string, path: string, foreign: boolean): Manifest | null {
  const refuse = (why: string) => new Error(`${path}: is no manifest that this version reads: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (foreign && !/^(\{\s*"manifest": ?\d|$)/.test(text)) throw refuse('it is no JSON');
    return null;
  }
  const { sha256, ...content } = jsonObject.safeParse(value).data ?? {};
  if (foreign && typeof content.manifest !== 'number') throw refuse('it has no number "manifest"');
  if (sha256 !== checksumOf(content)) return null;
  const result = manifest.safeParse(content);
  if (!result.success) throw refuse(problemsOf(result.error));
  return result.data;
}

/** Returns the problems of a value in one line. */
const problemsOf = ({ issues }: z.ZodError): string =>
  issues.map((issue) => `${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`).join('; ');
