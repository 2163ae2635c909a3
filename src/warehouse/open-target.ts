import { UsageError } from '../errors.ts';
import { DirectoryTarget } from './directory-target.ts';
import type { S3Access } from './s3-target.ts';
import type { Target } from './target.ts';

/**
 * Opens where exports go.
 * @param to a folder, or `s3://BUCKET/PREFIX`
 * @param s3 how S3 is reached, and what is wrong with that
 * @throws UsageError when it is neither, or S3 cannot be reached so
 */
export async function openTarget(
  to: string,
  { problems, ...s3 }: S3Access & { readonly problems: readonly string[] },
): Promise<Target> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(to)?.[1];
  if (scheme === undefined) return new DirectoryTarget(to);
  const [, bucket = '', prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(to) ?? [];
  if (bucket === '')
    throw new UsageError([`--to ${to}: must be a folder, or a bucket such as s3://my-bucket/recorder`]);
  if (problems.length > 0) throw new UsageError(problems);
  // The client takes as long to load as a command.
  const { S3Target } = await import('./s3-target.ts');
  return new S3Target(bucket, prefix.replace(/^\/+|\/+$/g, ''), s3);
}
