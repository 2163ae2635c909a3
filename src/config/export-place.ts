/** Target of an export: a local folder, or a prefix of a bucket. */
export type ExportDestination =
  | { readonly folder: string }
  /** A prefix of a bucket, without a slash at either end. Empty: the whole bucket. */
  | { readonly bucket: string; readonly prefix: string };

/** Parses the target of an export: a folder, or `s3://BUCKET/PREFIX`. Returns null if the text is neither. */
export function parseExportDestination(text: string): ExportDestination | null {
  if (text === '') return null;
  // `s3:/bucket` is a bucket URL with a missing slash, not a folder.
  if (!/^(?:s3:|[a-z][a-z0-9+.-]*:\/\/)/i.test(text)) return { folder: text };
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  return bucket === undefined ? null : { bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
}
