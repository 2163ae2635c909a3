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
import { isAway } from '../db/connection-error.ts';
import { type Target, TargetAway } from './target.ts';

/** How the bucket is reached. What is not given is found as AWS's own programs find it: profiles, roles. */
export interface S3Access {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly keys:
    | { readonly id: string; readonly secret: string; readonly session: string | undefined }
    | undefined;
}

/** Parts of an upload; four of 8 MiB are in memory at most. */
const PART = 8 << 20;
/** A server that neither takes nor gives anything for so long is asked again, or given up in the middle of its answer; ms. */
const SILENCE = 60_000;
/** The most that S3 removes at once. */
const AT_ONCE = 1_000;

/** Exports into a bucket of S3 or of what speaks like it. Files are written locally first, so that an upload is never half. */
export class S3Target implements Target {
  readonly name: string;
  readonly local = `TMPDIR ${tmpdir()}`;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  #scratch: string | null = null;

  /**
   * @param prefix empty, or a path without a slash at either end
   * @param silence ms after which a server that neither takes nor gives anything is given up
   */
  constructor(bucket: string, prefix: string, { endpoint, region, keys }: S3Access, silence = SILENCE) {
    this.name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#client = new S3Client({
      // Servers of one's own rarely have a name for each bucket.
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
      // Of the whole connection: `requestTimeout` counts the time to send a file too, and ends where the answer begins.
      requestHandler: { connectionTimeout: 10_000, socketTimeout: silence },
      // Other servers than AWS's refuse streams with the checksums that the client adds by itself.
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
      await this.#told(() =>
        new Upload({
          client: this.#client,
          params: { Bucket: this.#bucket, Key: this.#prefix + path, Body: body },
          partSize: PART,
        }).done(),
      );
    } finally {
      body.destroy();
      await rm(file, { force: true });
    }
  }

  async read(path: string): Promise<string | null> {
    return this.#told(async () => {
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
    await this.#told(async () => {
      const { Body } = await this.#client.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + path }),
      );
      if (!(Body instanceof Readable)) throw new Error(`${path} has no content`);
      await pipeline(Body, createWriteStream(local));
    });
    return local;
  }

  async create(path: string, text: string): Promise<boolean> {
    return this.#told(async () => {
      try {
        // It holds for a put of one part only: servers ignore it where an upload has several.
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
        if (error instanceof S3ServiceException && isTaken(error)) return false;
        throw error;
      }
    });
  }

  async replace(path: string, text: string): Promise<void> {
    await this.#told(() =>
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
      const page = await this.#told(() =>
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
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      const Objects = paths.slice(at, at + AT_ONCE).map((path) => ({ Key: this.#prefix + path }));
      const { Errors } = await this.#told(() =>
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

  /** Says of a failure where it was, and what mends it. */
  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { name = 'failure', message = String(error) } = error instanceof Error ? error : {};
      const mend = MENDS[name];
      const told = `${this.name}: ${name}: ${message}${mend ? `: ${mend}` : ''}`;
      throw mayPass(error) ? new TargetAway(told, { cause: error }) : new Error(told, { cause: error });
    }
  }
}

/** The name is taken, or is being taken by another put at this moment. */
const isTaken = (error: S3ServiceException) =>
  error.$metadata.httpStatusCode === 412 || error.$metadata.httpStatusCode === 409;

/** The server is away or silent, fails itself, or has too much to do. */
function mayPass(error: unknown): boolean {
  if (isAway(error)) return true;
  if (error instanceof S3ServiceException)
    return error.$fault === 'server' || error.$metadata.httpStatusCode === 429;
  return error instanceof Error && error.name === 'TimeoutError';
}

const KEYS = 'look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const MENDS: Readonly<Record<string, string>> = {
  AccessDenied: 'the keys may not do this: they need to get, put, list and delete objects there',
  CredentialsProviderError: KEYS,
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  NoSuchBucket: 'make the bucket first',
};
