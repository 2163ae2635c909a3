import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { type ExportTarget, TargetUnavailableError } from './target.ts';

/** Access to S3. Missing settings are resolved as by the programs of AWS: from profiles and roles. */
export interface S3Access {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly keys:
    | { readonly id: string; readonly secret: string; readonly session: string | undefined }
    | undefined;
}

/** Size of an upload part, in bytes. At most four parts are in memory. */
const UPLOAD_PART_BYTES = 8 << 20;
/** Socket timeout, in ms: an idle request is retried, or aborted if the response has started. */
const SOCKET_TIMEOUT_MS = 60_000;
/** Maximum number of objects that S3 deletes in one request. */
const DELETE_BATCH_SIZE = 1_000;

/**
 * Export target in a bucket of S3 or a compatible server. Files are written locally first, so that uploads
 * are complete.
 */
export class S3Target implements ExportTarget {
  readonly name: string;
  readonly local = `TMPDIR ${tmpdir()}`;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  #scratch: string | null = null;

  /**
   * @param prefix empty, or a path without a slash at either end
   * @param silence socket timeout, in ms
   */
  constructor(
    bucket: string,
    prefix: string,
    { endpoint, region, keys }: S3Access,
    silence = SOCKET_TIMEOUT_MS,
  ) {
    this.name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#client = new S3Client({
      // Self-hosted servers rarely have a host name for each bucket.
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(region === undefined ? {} : { region }),
      ...(keys
        ? {
            credentials: {
              accessKeyId: keys.id,
              secretAccessKey: keys.secret,
              ...(keys.session === undefined ? {} : { sessionToken: keys.session }),
            },
          }
        : {}),
      // Applies to the whole connection: `requestTimeout` also counts the time to send a file, and ends when
      // the response starts.
      requestHandler: { connectionTimeout: 10_000, socketTimeout: silence },
      // Other servers than AWS reject streams with the checksums that the client adds by default.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async scratch(): Promise<string> {
    this.#scratch ??= await mkdtemp(join(tmpdir(), 'chain-recorder-export-'));
    return this.#scratch;
  }

  async take(file: string, path: string): Promise<void> {
    const body = createReadStream(file);
    try {
      await this.#withNamedErrors(() =>
        new Upload({
          client: this.#client,
          params: { Bucket: this.#bucket, Key: this.#prefix + path, Body: body },
          partSize: UPLOAD_PART_BYTES,
        }).done(),
      );
    } finally {
      body.destroy();
      await rm(file, { force: true });
    }
  }

  async read(path: string): Promise<string | null> {
    return this.#withNamedErrors(async () => {
      try {
        const { Body } = await this.#client.send(
          new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path }),
        );
        return (await Body?.transformToString('utf8')) ?? null;
      } catch (error) {
        if (error instanceof S3ServiceException && error.name === 'NoSuchKey') return null;
        throw error;
      }
    });
  }

  async fetch(path: string, folder: string): Promise<string> {
    const local = join(folder, randomUUID());
    await this.#withNamedErrors(async () => {
      const { Body } = await this.#client.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path }),
      );
      if (!(Body instanceof Readable)) throw new Error(`${path} has no content`);
      await pipeline(Body, createWriteStream(local));
    });
    return local;
  }

  async create(path: string, text: string): Promise<boolean> {
    return this.#withNamedErrors(async () => {
      try {
        // IfNoneMatch works for a single put only: servers ignore it for multipart uploads.
        await this.#client.send(
          new PutObjectCommand({
            Bucket: this.#bucket,
            Key: this.#prefix + path,
            Body: text,
            IfNoneMatch: '*',
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof S3ServiceException && isNameConflict(error)) return false;
        throw error;
      }
    });
  }

  async replace(path: string, text: string): Promise<void> {
    await this.#withNamedErrors(() =>
      this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path, Body: text })),
    );
  }

  async list(prefix: string, after: string): Promise<string[]> {
    return [...(await this.#listed(prefix, after)).keys()].sort();
  }

  async sizes(folder: string): Promise<ReadonlyMap<string, number>> {
    return this.#listed(`${folder}/`, '');
  }

  async #listed(prefix: string, after: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    let token: string | undefined;
    do {
      const page = await this.#withNamedErrors(() =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ...(after === '' ? {} : { StartAfter: this.#prefix + after }),
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        ),
      );
      for (const { Key, Size = 0 } of page.Contents ?? [])
        if (Key) sizes.set(Key.slice(this.#prefix.length), Size);
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
    return sizes;
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += DELETE_BATCH_SIZE) {
      const Objects = paths.slice(at, at + DELETE_BATCH_SIZE).map((path) => ({ Key: this.#prefix + path }));
      const { Errors } = await this.#withNamedErrors(() =>
        this.#client.send(
          new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }),
        ),
      );
      const [first] = Errors ?? [];
      if (first)
        throw new Error(`${this.name}: ${first.Key} cannot be removed: ${first.Message ?? first.Code}`);
    }
  }

  async close(): Promise<void> {
    this.#client.destroy();
    if (this.#scratch !== null) await rm(this.#scratch, { recursive: true, force: true });
  }

  /** Runs requests and adds the target and the fix to their errors. */
  async #withNamedErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { name = 'failure', message = String(error) } = error instanceof Error ? error : {};
      const fix = FIXES[name];
      const named = `${this.name}: ${name}: ${message}${fix ? `: ${fix}` : ''}`;
      throw isTemporary(error)
        ? new TargetUnavailableError(named, { cause: error })
        : new Error(named, { cause: error });
    }
  }
}

/** Returns true if the name exists, or another put of the same name is in progress. */
const isNameConflict = (error: S3ServiceException) =>
  error.$metadata.httpStatusCode === 412 || error.$metadata.httpStatusCode === 409;

/** Returns true if the server is unavailable, silent or overloaded, or reports an error of its own. */
function isTemporary(error: unknown): boolean {
  if (isDatabaseUnavailable(error)) return true;
  if (error instanceof S3ServiceException)
    return error.$fault === 'server' || error.$metadata.httpStatusCode === 429;
  return error instanceof Error && error.name === 'TimeoutError';
}

const KEYS = 'check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const FIXES: Readonly<Record<string, string>> = {
  AccessDenied:
    'the access keys lack a permission: they must get, put, list and delete objects in the bucket',
  CredentialsProviderError: KEYS,
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  NoSuchBucket: 'create the bucket first',
};
