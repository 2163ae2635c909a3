import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { toErrorMessage, UsageError } from './errors.ts';

/**
 * Maximum size of an input file, in bytes. Files written by people are smaller, and a device such as
 * /dev/zero has no end.
 */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;
/** Timeout until a writer opens a pipe, in ms. */
const WRITER_TIMEOUT_MS = 1_000;

/** Timeout between two chunks of a pipe, in ms. */
const CHUNK_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 10;

/**
 * Reads the text of a file, device or pipe that a person named. Always returns or throws, because endless
 * input and pipes without a writer are rejected.
 * @param place option or setting that names the file, such as `--head FILE`
 * @param missing how to fix a missing file
 * @throws UsageError with the reason and the fix if the file cannot be read
 */
export function readInputFile(place: string, file: string, missing = 'correct the name'): string {
  try {
    return UTF_8.decode(bytesOf(file));
  } catch (error) {
    throw new UsageError([`${place}: ${reasonOf(error, file, missing)}`], { cause: error });
  }
}

/** Strict decoder: invalid UTF-8 throws, and a byte order mark is dropped. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Last content of each pipe by its path. Secrets are read again for redaction, but a pipe delivers its
 * content only once per writer.
 */
const pipeContents = new Map<string, Buffer>();

/** Error of rejected input. The message contains the reason and the fix. */
class UnreadableInputError extends Error {}

function bytesOf(file: string): Buffer {
  // The file is opened without blocking, because opening a pipe would wait for a writer.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const isPipe = fstatSync(descriptor).isFIFO();
    const known = pipeContents.get(file);
    const parts: Buffer[] = [];
    let length = 0;
    let waited = 0;
    for (;;) {
      const part = Buffer.allocUnsafe(65_536);
      const read = readSome(descriptor, part);
      if (read === 0 && (!isPipe || length > 0)) break;
      if (read === 0 && known) return known;
      if (read === null || read === 0) {
        if (read === 0 && waited >= WRITER_TIMEOUT_MS)
          throw new UnreadableInputError('is a pipe without a writer: name a file');
        if (waited >= CHUNK_TIMEOUT_MS)
          throw new UnreadableInputError(
            `is not a file and sent no data for ${CHUNK_TIMEOUT_MS / 1000} s: name a file`,
          );
        Atomics.wait(SLEEP_CELL, 0, 0, POLL_INTERVAL_MS);
        waited += POLL_INTERVAL_MS;
        continue;
      }
      waited = 0;
      length += read;
      if (length > MAX_INPUT_BYTES)
        throw new UnreadableInputError(
          `is longer than ${MAX_INPUT_BYTES / 1024 / 1024} MiB: name a text file`,
        );
      parts.push(part.subarray(0, read));
    }
    const bytes = Buffer.concat(parts);
    // UTF-16 of Latin letters is also valid UTF-8, with a NUL after each letter.
    if (isUtf16(bytes)) throw new UnreadableInputError(OTHER_ENCODING);
    if (bytes.includes(0))
      throw new UnreadableInputError(
        `contains a NUL byte at offset ${bytes.indexOf(0)}: the file is not a text or is damaged: write the file again`,
      );
    if (isPipe) pipeContents.set(file, bytes);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns true if the bytes start like UTF-16, with a byte order mark or with a NUL beside a letter. */
const isUtf16 = ([first, second]: Buffer) =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first === 0) !== (second === 0);

const SLEEP_CELL = new Int32Array(new SharedArrayBuffer(4));

/**
 * Reads a chunk and returns its size in bytes. Returns 0 at the end or if a pipe has no writer; null if there
 * is no data yet.
 */
function readSome(descriptor: number, into: Buffer): number | null {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}

const OTHER_ENCODING = 'is not in UTF-8: save the file in UTF-8';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Returns the reason why a file cannot be read, and the fix. */
function reasonOf(error: unknown, file: string, missing: string): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `there is no such file (${resolve(file)}): ${missing}`;
    case 'EISDIR':
      return 'is a folder: name the file in it';
    case 'EACCES':
      return 'this user has no permission to read the file: make this user the owner ("chown"), or let its group read it ("chmod g+r")';
    case 'ENOTDIR':
      return `a part of the path is not a folder (${resolve(file)}): ${missing}`;
    case 'ENAMETOOLONG':
      return `the name is too long: ${missing}`;
    case 'ELOOP':
      return `is a symbolic link that points to itself: ${missing}`;
    case 'ENXIO':
      return 'is a socket or a device that cannot be read: name a file';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return OTHER_ENCODING;
    default:
      return toErrorMessage(error);
  }
}
