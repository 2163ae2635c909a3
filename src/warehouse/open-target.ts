import { exportPlace } from '../config/export-place.ts';
import { UsageError } from '../lib/errors.ts';
import { DirectoryTarget } from './directory-target.ts';
import type { S3Access } from './s3-target.ts';
import type { Target } from './target.ts';

/**
 * Opens where exports go.
 * @param to a folder, or `s3://BUCKET/PREFIX`
 * @param s3 how S3 is reached, and what is wrong with that
 * @param option what named the place, for the error
 * @throws UsageError when it is neither, or S3 cannot be reached so
 */
export async function openTarget(
  to: string,
  { problems, ...s3 }: S3Access & { readonly problems: readonly string[] },
  option = '--to',
): Promise<Target> {
  const place = exportPlace(to);
  if (place === null)
    throw new UsageError([`${option} ${to}: must be a folder, or a bucket such as s3://my-bucket/recorder`]);
  if ('folder' in place) return new DirectoryTarget(place.folder, `${option} ${place.folder}`);
  if (problems.length > 0) throw new UsageError(problems);
  // The client takes as long to load as a command.
  const { S3Target } = await import('./s3-target.ts');
  return new S3Target(place.bucket, place.prefix, s3);
}
