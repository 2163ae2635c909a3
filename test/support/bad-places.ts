import { spawnSync } from 'node:child_process';

/** The prefix of a command that makes a path invalid: the words before `node` and the file of the command line. */
export type Before = readonly string[];

/** In separate namespaces, with the right to mount. */
const OWN_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount'];
/** Root may write anywhere; without its capabilities the permissions of folders apply to it, too. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : ([] satisfies string[]);

/** Reason why invalid paths cannot be made here; null: they can. */
export const noBadPlaces =
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0 &&
  spawnSync('setpriv', ['--version']).status === 0
    ? null
    : 'no unshare or setpriv that this user may use';

/** Mounts a disk of this many KiB there. */
export const smallDisk = (folder: string, kib: number): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  `mount -t tmpfs -o size=${kib}k tmpfs "$0" && exec "$@"`,
  folder,
];

/** Mounts a disk there without room for one more file. */
export const fullDisk = (folder: string): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  'mount -t tmpfs -o nr_inodes=1 tmpfs "$0" && exec "$@"',
  folder,
];

/** Mounts a read-only disk there. */
export const readOnlyDisk = (folder: string): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"',
  folder,
];

/** The command has only the permissions of its user. */
export const withoutRights: Before = WITHOUT_RIGHTS;
