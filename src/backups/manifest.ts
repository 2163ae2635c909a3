import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../errors.ts';
import { contents } from './contents.ts';

/** The files of a backup's folder. */
export const DUMP = 'record.dump';
export const MANIFEST = 'manifest.json';

const manifest = z.object({
  backup: z.literal(1),
  /** The version of chain-recorder that made it. */
  recorder: z.string(),
  /** By the clock of the database: what was committed before is in it. ISO 8601. */
  taken_at: z.string(),
  /** The major versions of the server and of pg_dump. */
  server: z.number(),
  pg_dump: z.number(),
  /** How many migrations the database has. */
  migrations: z.number(),
  /** The roles that have rights on something in the database. */
  roles: z.array(z.string()),
  dump: z.object({ bytes: z.number(), sha256: z.string() }),
  contents,
});

export type BackupManifest = z.infer<typeof manifest>;

/**
 * Reads the manifest of a backup.
 * @throws UsageError when the folder holds none that this version reads
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError([
      `--from ${folder}: there is no ${MANIFEST}: it is no backup, or one that was not finished`,
    ]);
  });
  const result = manifest.safeParse(parsed(text));
  if (!result.success)
    throw new UsageError([`${path}: is no backup that this version reads: ${z.prettifyError(result.error)}`]);
  return result.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the dump once. @throws UsageError when it is not the file that the manifest speaks of */
export async function checkDump(
  folder: string,
  { dump }: BackupManifest,
  signal: AbortSignal,
): Promise<void> {
  const path = join(folder, DUMP);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const block of createReadStream(path, { signal, highWaterMark: 1 << 20 })) {
      hash.update(block);
      bytes += block.length;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError([`${path}: cannot be read`], { cause: error });
  }
  if (bytes !== dump.bytes || hash.digest('hex') !== dump.sha256)
    throw new UsageError([
      `${path}: is damaged: its ${bytes} bytes are not the ${dump.bytes} that were backed up; take another backup`,
    ]);
}
