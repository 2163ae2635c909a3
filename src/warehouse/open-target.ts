import { parseExportDestination } from '../config/export-place.ts';
import { UsageError } from '../lib/errors.ts';
import { DirectoryTarget } from './directory-target.ts';
import type { S3Access } from './s3-target.ts';
import type { ExportTarget } from './target.ts';

/**
 * Opens the target of an export.
 * @param to a folder, or `s3://BUCKET/PREFIX`
 * @param s3 access to S3, and the problems of its settings
 * @param option option that names the target, for the error
 * @throws UsageError if `to` is neither, or the settings of S3 are invalid
 */
export async function openTarget(
  to: string,
  { problems, ...s3 }: S3Access & { readonly problems: readonly string[] },
  option = '--to',
): Promise<ExportTarget> {
  const place = parseExportDestination(to);
  if (place === null)
    throw new UsageError([`${option} ${to}: must be a folder, or a bucket such as s3://my-bucket/recorder`]);
  if ('folder' in place) return new DirectoryTarget(place.folder, `${option} ${place.folder}`);
  if (problems.length > 0) throw new UsageError(problems);
  // The S3 client is loaded only if needed, because loading it takes as long as loading a command.
  const { S3Target } = await import('./s3-target.ts');
  return new S3Target(place.bucket, place.prefix, s3);
}
