// npm's script `prepare`: builds dist/ if it was not built from these sources, and links the command. It is plain
// JavaScript without packages, because it has to run without the development dependencies, and to report that.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Sources of dist/. */
const SOURCES = ['src', 'sandbox', 'web', 'package', 'package.json', 'package-lock.json', 'tsconfig.json'];
const stamp = join(root, 'dist', 'built-of');

/** A digest of all sources, with their paths. */
function digestOfSources() {
  const digest = createHash('sha256');
  const add = (path) => {
    const entries = readdirSync(join(root, path), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = `${path}/${entry.name}`;
      if (entry.isDirectory()) add(name);
      else digest.update(`${name}\n`).update(readFileSync(join(root, name)));
    }
  };
  for (const path of SOURCES.filter((one) => existsSync(join(root, one))))
    if (path.includes('.')) digest.update(`${path}\n`).update(readFileSync(join(root, path)));
    else add(path);
  return digest.digest('hex');
}

/** Links `chain-recorder` as a command of node_modules/.bin, as in an installed package. */
function linkCommand() {
  if (process.platform === 'win32') return;
  const bin = join(root, 'node_modules', '.bin');
  const link = join(bin, 'chain-recorder');
  mkdirSync(bin, { recursive: true });
  chmodSync(join(root, 'dist', 'cli.js'), 0o755);
  const target = join('..', '..', 'dist', 'cli.js');
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

/** Runs npm in this package. Ends the process if it fails. */
function npm(...args) {
  const { status } = spawnSync('npm', args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

const digest = digestOfSources();
const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
const hasTools = () => existsSync(join(root, 'node_modules', 'tsx'));
// NODE_ENV=production leaves out the development dependencies. npm passes on only values that differ from its default:
// the user did not set it.
if (!isBuilt && !hasTools() && process.env.NODE_ENV === 'production' && !process.env.npm_config_omit)
  npm('install', '--include=dev', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund');
// The build's programs are optional dependencies, one for each system.
if (!isBuilt && process.env.npm_config_omit?.split(/\s+/).includes('optional')) {
  process.stderr.write(
    'chain-recorder is not built: the build needs the programs for this system, which were left out (--omit=optional): ' +
      'run "npm ci --include=optional"\n',
  );
  process.exit(1);
}
if (!isBuilt && !hasTools()) {
  process.stderr.write(
    `chain-recorder is not built: dist/ is ${existsSync(stamp) ? 'of other sources' : 'missing'}, and the build needs the development ` +
      'dependencies, which were left out (--omit=dev): run "npm ci --include=dev"\n',
  );
  process.exit(1);
}
if (!isBuilt) {
  npm('run', 'build');
  writeFileSync(stamp, digest);
}
linkCommand();
