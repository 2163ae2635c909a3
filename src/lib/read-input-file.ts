import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, UsageError } from './errors.ts';

/** The most that is read of a file, in bytes. Nothing that a person writes is longer, and a device such as /dev/zero has no end. */
const MOST = 16 * 1024 * 1024;
/** How long somebody is waited for who writes to a pipe, and from one of their parts to the next; ms. */
const UNTIL_WRITER = 1_000;
const UNTIL_MORE = 30_000;
const PAUSE = 10;

/**
 * The text of a file, device or pipe that a person named. It ends always: what has no end, or comes from nobody, is refused.
 * @param place what named it, such as `--head FILE`
 * @param missing what mends it where there is no such file
 * @throws UsageError which says why it cannot be read, and what mends it
 */
export function readGivenFile(place: string, file: string, missing = 'correct the name'): string {
  try {
    return UTF_8.decode(bytesOf(file));
  } catch (error) {
    throw new UsageError([`${place}: ${reasonOf(error, file, missing)}`], { cause: error });
  }
}

/** A mark of the order of bytes at its begin is no part of the text. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** What pipes gave last, by their names: a secret is read again for what must not be told, and they give it once unless somebody writes anew. */
const ofPipes = new Map<string, Buffer>();

/** Why it is not read, with the mend. */
class Refused extends Error {}

function bytesOf(file: string): Buffer {
  // Without waiting: the opening of a pipe waits for one who writes to it.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const isPipe = fstatSync(descriptor).isFIFO();
    const known = ofPipes.get(file);
    const parts: Buffer[] = [];
    let length = 0;
    let waited = 0;
    for (;;) {
      const part = Buffer.allocUnsafe(65_536);
      const read = readSome(descriptor, part);
      if (read === 0 && (!isPipe || length > 0)) break;
      if (read === 0 && known) return known;
      if (read === null || read === 0) {
        if (read === 0 && waited >= UNTIL_WRITER)
          throw new Refused('is a pipe, and nobody writes to it: name a file');
        if (waited >= UNTIL_MORE)
          throw new Refused(`is no file, and nothing came from it for ${UNTIL_MORE / 1000} s: name a file`);
        Atomics.wait(NOBODY, 0, 0, PAUSE);
        waited += PAUSE;
        continue;
      }
      waited = 0;
      length += read;
      if (length > MOST) throw new Refused(`is longer than ${MOST / 1024 / 1024} MiB: name a text file`);
      parts.push(part.subarray(0, read));
    }
    const bytes = Buffer.concat(parts);
    // UTF-16 of Latin letters is UTF-8, too, with a NUL behind each.
    if (isUtf16(bytes)) throw new Refused(OTHER_ENCODING);
    if (bytes.includes(0))
      throw new Refused(
        `contains a NUL byte at offset ${bytes.indexOf(0)}: it is no text, or was damaged; write it again`,
      );
    if (isPipe) ofPipes.set(file, bytes);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

/** Whether bytes begin as UTF-16 does: with its mark, or with a letter beside a NUL. */
const isUtf16 = ([first, second]: Buffer) =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first === 0) !== (second === 0);

const NOBODY = new Int32Array(new SharedArrayBuffer(4));

/** How many bytes were read; 0: the end, or nobody writes to the pipe; null: there are none yet. */
function readSome(descriptor: number, into: Buffer): number | null {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}

const OTHER_ENCODING = 'is not in UTF-8: save it in that encoding';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Why a file cannot be read, and what mends it. */
function reasonOf(error: unknown, file: string, missing: string): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `there is no such file (${resolve(file)}): ${missing}`;
    case 'EISDIR':
      return 'is a folder: name the file in it';
    case 'EACCES':
      return 'this user may not read it: give it to this user ("chown"), or let its group read it ("chmod g+r")';
    case 'ENOTDIR':
      return `a part of it is no folder (${resolve(file)}): ${missing}`;
    case 'ENAMETOOLONG':
      return `the name is too long: ${missing}`;
    case 'ELOOP':
      return `is a link that leads to itself: ${missing}`;
    case 'ENXIO':
      return 'is a socket or a device that cannot be read: name a file';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return OTHER_ENCODING;
    default:
      return messageOf(error);
  }
}
