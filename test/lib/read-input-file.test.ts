import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/lib/errors.ts';
import { readInputFile } from '../../src/lib/read-input-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = temporaryFolder('given');

const at = (name: string) => join(dir, name);
function file(name: string, content: string | Buffer): string {
  writeFileSync(at(name), content);
  return at(name);
}
function pipe(name: string): string {
  spawnSync('mkfifo', [at(name)]);
  return at(name);
}
/** Reasons why a file is refused. */
function why(path: string): string {
  try {
    readInputFile('--head', path);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'it was read';
}

describe('an input file', () => {
  it('is read as UTF-8, with or without a byte order mark', () => {
    expect(readInputFile('--head', file('plain', 'zwölf\n'))).toBe('zwölf\n');
    expect(readInputFile('--head', file('marked', '\ufeffzwölf'))).toBe('zwölf');
    expect(readInputFile('--head', file('empty', ''))).toBe('');
    expect(readInputFile('--head', '/dev/null')).toBe('');
  });

  it('may be a pipe, also one with a late writer; it can be read again', async () => {
    const path = pipe('written');
    const writer = spawn('sh', ['-c', 'printf one > "$0"', path]);
    expect(readInputFile('--head', path)).toBe('one');
    expect(readInputFile('--head', path)).toBe('one');
    await once(writer, 'close');
  });

  it.each([
    [
      'that is not there',
      () => at('missing'),
      /^--head: there is no such file \(\/.*missing\): correct the name$/,
    ],
    ['below a file', () => join(file('below', ''), 'it'), /^--head: a part of the path is not a folder/],
    [
      'that is a folder',
      () => {
        mkdirSync(at('folder'));
        return at('folder');
      },
      /^--head: is a folder: name the file in it$/,
    ],
    [
      'that leads to itself',
      () => {
        symlinkSync(at('loop'), at('loop'));
        return at('loop');
      },
      /^--head: is a symbolic link that points to itself/,
    ],
    ['whose name is too long', () => at('x'.repeat(300)), /^--head: the name is too long/],
    ['without an end', () => '/dev/zero', /^--head: is longer than 16 MiB/],
    [
      'that is huge',
      () => file('huge', Buffer.alloc(17 * 1024 * 1024, 'a')),
      /^--head: is longer than 16 MiB/,
    ],
    [
      'in UTF-16',
      () => file('wide', Buffer.from('\ufeffnetwork: fuji', 'utf16le')),
      /^--head: is not in UTF-8: save the file/,
    ],
    [
      'in UTF-16 without a mark',
      () => file('bare', Buffer.from('network: fuji', 'utf16le')),
      /^--head: is not in UTF-8/,
    ],
    [
      'with a NUL in a text',
      () => file('damaged', Buffer.from('key-\0\0-of-32')),
      /^--head: contains a NUL byte at offset 4: the file is not a text/,
    ],
    ['of NULs', () => file('zeros', Buffer.alloc(32)), /^--head: contains a NUL byte at offset 0/],
    ['in Latin-1', () => file('latin', Buffer.from('zwölf', 'latin1')), /^--head: is not in UTF-8/],
    [
      'that is a pipe without a writer',
      () => pipe('silent'),
      /^--head: is a pipe without a writer: name a file$/,
    ],
  ])('is refused with a sentence: %s', (_, make, message) => {
    expect(why(make())).toMatch(message);
  });

  it('is refused with a sentence if it is a socket', async () => {
    const server = createServer().listen(at('socket'));
    await once(server, 'listening');
    expect(why(at('socket'))).toMatch(/^--head: is a socket or a device that cannot be read/);
    server.close();
  });
});
