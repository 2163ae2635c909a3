import { createHash } from 'node:crypto';
import { z } from 'zod';
import { EXPORT_FORMATS } from '../config/exports-schema.ts';
import type { ExportTarget } from './target.ts';
import { watermark } from './watermark.ts';

/** Name of a table or column. A manifest may be untrusted, and its names and days become part of SQL. */
const name = z.string().regex(/^[a-z0-9_]+$/);

/** Path of a file relative to the target. Paths outside of the target are invalid. */
const path = z
  .string()
  .regex(/^[\w=.-]+(\/[\w=.-]+)*$/)
  .refine((text) => !text.split('/').includes('..'));

const file = z.object({
  path,
  /** Day (UTC) of the start of the validity of the rows in the file. */
  day: z.string().regex(/^-?\d{4,}-\d{2}-\d{2}$/),
  /** Number of the export that wrote the file. */
  export: z.number(),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

export type ManifestFile = z.infer<typeof file>;

const column = z.object({
  name: z.string(),
  /** PostgreSQL type. */
  type: z.string(),
  /** Type in the files: text, json (a text), boolean, bigint, double, instant, decimal. */
  stored: z.string(),
  /** Number of digits after the decimal point, only for decimals. */
  scale: z.number().optional(),
  /** Number of the export that added the column. */
  since: z.number(),
});

const table = z.object({
  dataset: z.string(),
  kind: z.string(),
  /**
   * Columns that identify a version, together with `from`. If a version has several rows, the row with the
   * newest `exported_at` is valid.
   */
  key: z.array(name),
  from: name,
  to: z.string().nullable(),
  format: z.enum(EXPORT_FORMATS),
  columns: z.array(column),
  /** Position up to which the files contain the recorded rows. */
  watermark,
  exported_at: z.string(),
  files: z.array(file),
});

export type ManifestTable = z.infer<typeof table>;

const seal = z.object({ seal: z.number(), until: z.string(), head: z.string() });

export type ManifestSeal = z.infer<typeof seal>;

/**
 * Tables that a restore needs besides the tables of datasets, from one snapshot. Every value is PostgreSQL's
 * text.
 */
const bookkeeping = z.object({
  exported_at: z.string(),
  /** Number of migrations of the exported database. */
  migrations: z.number().int().positive().default(1),
  format: z.enum(EXPORT_FORMATS),
  /** Newest seal whose parts are exported. */
  seal: seal.nullable(),
  /** Last sequence value of each identity or serial column, as `table.column`. */
  numbers: z.record(z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]+$/), z.string().regex(/^\d{1,19}$/)),
  tables: z.record(
    z.string(),
    z.object({ columns: z.array(z.string()), files: z.array(file.omit({ day: true })) }),
  ),
});

/** Rows of a lost file of a day whose rows the database may have removed. */
const lostRows = z.object({ export: z.number(), table: name, day: file.shape.day, rows: z.number() });

export type LostRows = z.infer<typeof lostRows>;

const manifest = z.object({
  /** Version of this format. */
  manifest: z.literal(1),
  /** Version of chain-recorder that wrote the manifest. */
  recorder: z.string(),
  /** Number of the export that wrote the manifest. */
  export: z.number(),
  /** Distinguishes exports of the same number. */
  id: z.string(),
  /**
   * Time by the clock of the database, in ISO 8601 with microseconds. Everything committed before this time
   * is included.
   */
  exported_at: z.string(),
  /** Newest seal of the exported record; null if nothing is sealed. */
  seal: seal.nullable(),
  /** First seal of the exported record; null if nothing is sealed. */
  first_seal: seal.nullable(),
  tables: z.record(name, table),
  /**
   * Tables besides the tables of datasets, as of the last export of all datasets; null if there was no such
   * export.
   */
  bookkeeping: bookkeeping.nullable(),
  /** Columns added by each export. */
  changes: z.array(z.object({ export: z.number(), table: z.string(), added: z.array(z.string()) })),
  /** Files that are no longer valid. The next export removes these files. */
  superseded: z.array(path),
  lost: z.array(lostRows),
});

export type Manifest = z.infer<typeof manifest>;

/** Folder of the files of the bookkeeping. */
export const BOOKKEEPING_FOLDER = 'bookkeeping';

/** Returns the paths of the files of a bookkeeping. */
export const bookkeepingPaths = (bookkeeping: Manifest['bookkeeping']): string[] =>
  Object.values(bookkeeping?.tables ?? {}).flatMap(({ files }) => files.map(({ path }) => path));

/** Returns the paths of all files that a manifest names, valid or superseded. */
export const manifestPaths = ({ tables, bookkeeping, superseded }: Manifest): string[] => [
  ...Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path)),
  ...bookkeepingPaths(bookkeeping),
  ...superseded,
];

/** Copy of the newest manifest, for readers. */
const COPY_PATH = 'manifest.json';
/**
 * Folder of the manifests by number; the newest manifest is valid. Each name is created only once, so only
 * one of two concurrent exporters succeeds.
 */
const MANIFEST_FOLDER = 'manifests/';
const DIGITS = 8;

const numbered = (number: number) => `${MANIFEST_FOLDER}${String(number).padStart(DIGITS, '0')}.json`;

/** Manifests of a target. */
export interface Manifests {
  /** Newest valid manifest; null if there is none. */
  readonly newest: Manifest | null;
  /** Highest number of any manifest; 0 if there is none. */
  readonly last: number;
  /** Paths of manifests that were truncated or changed after they were written. */
  readonly damaged: readonly string[];
}

/**
 * Reads the manifests of a target. Ignores manifests that were truncated or changed after they were written.
 * @throws Error if a manifest has another version, or `manifest.json` belongs to another program
 */
export async function readManifests(target: ExportTarget): Promise<Manifests> {
  const listed = await target.list(MANIFEST_FOLDER, '');
  const last = Number(/(\d+)\.json$/.exec(listed.at(-1) ?? '')?.[1] ?? 0);
  const damaged: string[] = [];
  let newest: Manifest | null = null;
  // The manifest before the newest manifest stays valid until the next export: its files are not removed earlier.
  for (const path of [...listed.slice(-2).reverse(), COPY_PATH]) {
    const text = await target.read(path);
    if (text === null) continue;
    const found = parseManifest(text, `${target.name}/${path}`, path === COPY_PATH && last === 0);
    if (found === null) damaged.push(path);
    else if (newest === null || found.export > newest.export) newest = found;
  }
  return { newest, last: Math.max(last, newest?.export ?? 0), damaged };
}

/**
 * Returns the newest manifest of a target, or null if nothing was exported there.
 * @throws Error if the newest manifest was truncated or changed after it was written, or has another version
 */
export async function currentManifest(target: ExportTarget): Promise<Manifest | null> {
  const { newest, last, damaged } = await readManifests(target);
  const [path] = damaged;
  if (path !== undefined && (newest === null || newest.export < last))
    throw new Error(
      `${target.name}/${path}: the manifest was changed after it was written: use another copy, or write a new one with "chain-recorder export --incremental"`,
    );
  return newest;
}

/**
 * Makes a manifest current. Its files become valid only now.
 * @returns false, without any change, if another exporter wrote the manifest of this number first
 */
export async function commitManifest(target: ExportTarget, next: Manifest): Promise<boolean> {
  const text = manifestText(next);
  const path = numbered(next.export);
  // The response to an earlier successful attempt may have been lost.
  if (!(await target.create(path, text)) && (await target.read(path)) !== text) return false;
  const [later] = await target.list(MANIFEST_FOLDER, path);
  if (later === undefined) await target.replace(COPY_PATH, text);
  // The file must stay, or a slow exporter could create a file of this name. The content is no longer needed.
  if (next.export > 2) await target.replace(numbered(next.export - 2), '{}\n');
  return true;
}

/** Formats a manifest as a file, with the SHA-256 of the manifest without this line. */
export function manifestText(next: Manifest): string {
  return `${JSON.stringify({ ...next, sha256: checksumOf(next) }, null, 1)}\n`;
}

const checksumOf = (content: object) => createHash('sha256').update(JSON.stringify(content)).digest('hex');

const jsonObject = z.record(z.string(), z.unknown());

/**
 * Parses a manifest. Returns null if the text was truncated or changed after it was written.
 * @param foreign true if the file may belong to another program that uses the same file name
 * @throws Error if the manifest has another version, or belongs to another program
 */
function parseManifest(text: string, path: string, foreign: boolean): Manifest | null {
  const refuse = (why: string) => new Error(`${path}: is not a valid manifest for this version: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (foreign && !/^(\{\s*"manifest": ?\d|$)/.test(text)) throw refuse('the file is not JSON');
    return null;
  }
  const { sha256, ...content } = jsonObject.safeParse(value).data ?? {};
  if (foreign && typeof content.manifest !== 'number') throw refuse('the number "manifest" is missing');
  if (sha256 !== checksumOf(content)) return null;
  const result = manifest.safeParse(content);
  if (!result.success) throw refuse(problemsOf(result.error));
  return result.data;
}

/** Returns the problems of a value in one line. */
const problemsOf = ({ issues }: z.ZodError): string =>
  issues.map((issue) => `${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`).join('; ');
