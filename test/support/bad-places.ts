import { spawnSync } from 'node:child_process';

/** How a command is started so that a place is bad for it: what stands before `node` and the file of the command line. */
export type Before = readonly string[];

/** In namespaces of its own, where it may mount. */
const OWN_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount'];
/** Root may write anywhere; without its capabilities the rights of folders count for it, too. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : ([] satisfies string[]);

/** Why there can be no bad places here; null: there can. */
export const noBadPlaces =
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0 &&
  spawnSync('setpriv', ['--version']).status === 0
    ? null
    : 'no unshare or setpriv that this user may use';

/** A disk of so many KiB is mounted there. */
export const smallDisk = (folder: string, kib: number): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  `mount -t tmpfs -o size=${kib}k tmpfs "$0" && exec "$@"`,
  folder,
];

/** A disk is mounted there that has no room for one more file. */
export const fullDisk = (folder: string): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  'mount -t tmpfs -o nr_inodes=1 tmpfs "$0" && exec "$@"',
  folder,
];

/** A disk is mounted there that takes no writes. */
export const readOnlyDisk = (folder: string): Before => [
  ...OWN_MOUNTS,
  'bash',
  '-c',
  'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"',
  folder,
];

/** The command has only the rights of its user. */
export const withoutRights: Before = WITHOUT_RIGHTS;
