import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { fullDisk, noBadPlaces, readOnlyDisk, smallDisk, withoutRights } from '../support/bad-places.ts';
import { type Ended, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = temporaryFolder('places');
const { it, database } = withDatabase();

beforeAll(async () => {
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:1' }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'fuji', upstreams: { nodes } }));
  writeFileSync(join(dir, 'file'), '');
  for (const name of ['disk', 'full', 'shut']) mkdirSync(join(dir, name));
  chmodSync(join(dir, 'shut'), 0o555);
});

const run = (args: readonly string[], before: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  startCommand(args, { DATABASE_URL: database.url, LOG_LEVEL: 'error', ...env }, dir, undefined, before)
    .ended;
/** Nothing on stdout, and one line on stderr. */
const outcomeOf = ({ code, stdout, stderr }: Ended) => ({
  code,
  stdout,
  lines: stderr.trimEnd().split('\n'),
});
const one = (code: number, message: RegExp) => ({
  code,
  stdout: '',
  lines: [expect.stringMatching(message)],
});

it.each([['status'], ['doctor'], ['query', 'select 1']])(
  'a removed working directory is reported by %s %s',
  async (...args) => {
    const removed = mkdtempSync(join(tmpdir(), 'recorder-gone-'));
    const before = ['bash', '-c', 'rmdir "$PWD" && exec "$@"', 'bash'];
    const env = { DATABASE_URL: database.url };
    const ended = await startCommand(args, env, removed, undefined, before).ended;
    expect(outcomeOf(ended)).toEqual(
      one(2, /^the current folder was removed: change to another folder with "cd"$/),
    );
  },
);

it.runIf(noBadPlaces === null).each([
  ['sandbox', ''],
  ['embedded database', 'network: fuji\nupstreams: {}\n'],
])('a working directory on a read-only disk is reported before the %s starts', async (_, config) => {
  const folder = mkdtempSync(join(dir, 'read-only-'));
  if (config) writeFileSync(join(folder, 'recorder.yaml'), config);
  const mounted = 'mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$@"';
  const before = ['unshare', '--user', '--map-root-user', '--mount', 'bash', '-c', mounted, 'bash'];
  const ended = await startCommand(['up'], { LOG_LEVEL: 'error' }, folder, undefined, before).ended;
  expect(outcomeOf(ended)).toEqual(
    one(2, /^\S+\.recorder: the file system is read-only: run chain-recorder in a directory/),
  );
});

/** Commands that write into a folder, and the option with its path. One of them is tested with every place. */
const writers = [
  [['export', 'peers', '--to'], true],
  [['backup', '--to'], false],
  [['report', 'status', '--out'], false],
] as const;
const places = [
  ['a file in the place of a folder', 'file/below/it', /\S+\/file is a file, where a folder has to be:/, []],
  ['a name that is too long', 'x'.repeat(300), /the name is too long:/, []],
  [
    'no right to write',
    'shut/it',
    /this user has no permission to write to \S*shut\/it: grant write access, or/,
    withoutRights,
  ],
  ['a read-only disk', 'disk/it', /the file system is read-only:/, readOnlyDisk(join(dir, 'disk'))],
  ['a full disk', 'full/it', /the disk is full: free disk space, or/, fullDisk(join(dir, 'full'))],
] as const;

describe.each(writers)('a filesystem with %j', (command, isTestedWithAll) => {
  const option = command.at(-1);
  const tested = isTestedWithAll ? places : places.filter(([, place]) => /file|full/.test(place));
  it.for(tested)('reports %s', async ([, place, message, before], { skip }) => {
    if (before.length > 0 && noBadPlaces) skip(noBadPlaces);
    const isFull = place.startsWith('full');
    const line = `${isFull ? 'chain-recorder failed: ' : ''}${option} ${place}: ${message.source} name another place`;
    expect(outcomeOf(await run([...command, place], before))).toEqual(
      one(isFull ? 1 : 2, new RegExp(`^${line}$`)),
    );
  });
});

describe.skipIf(noBadPlaces)('query --format parquet', () => {
  it('reports a full disk of temporary files', async () => {
    const question = 'select n, md5(n::text) from generate_series(1, 100000) n';
    const tmp = join(dir, 'full');
    const ended = await run(['query', question, '--format', 'parquet'], smallDisk(tmp, 1024), {
      TMPDIR: tmp,
    });
    expect(outcomeOf(ended)).toEqual(
      one(
        1,
        /^chain-recorder failed: TMPDIR .*full: the disk is full: free disk space, or name another place$/,
      ),
    );
  });

  it('reports a missing folder for temporary files', async () => {
    const ended = await run(['query', 'select 1 as n', '--format', 'parquet'], [], { TMPDIR: '/no/such' });
    expect(outcomeOf(ended)).toEqual(
      one(2, /^TMPDIR \/no\/such: there is no folder \/no\/such: create it, or name another place$/),
    );
  });
});

describe.skipIf(noBadPlaces)('an output file', () => {
  it.each([
    ['seal', '--out', 'shut/seal.txt'],
    ['init', '--no-check', '--config', 'shut/other.yaml'],
  ])('without write permission is reported by %s', async (...args) => {
    expect(outcomeOf(await run(args, withoutRights))).toEqual(
      one(
        2,
        /shut\/\w+\.\w+: this user has no permission to write to .*shut[^:]*: grant write access, or name another place$/,
      ),
    );
  });

  it.each([
    ['seal', '--out', 'full/seal.txt'],
    ['init', '--no-check', '--config', 'full/other.yaml'],
  ])('on a full disk is reported by %s', async (...args) => {
    expect(outcomeOf(await run(args, fullDisk(join(dir, 'full'))))).toEqual(
      one(1, /^chain-recorder failed: .*full\/\w+\.\w+: the disk is full: free disk space, or name another/),
    );
  });
});
