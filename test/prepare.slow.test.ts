import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/temporary-folder.ts';

/**
 * A project that is installed like this one, by the same script `prepare`. Its only dependency is a development
 * dependency in a folder, so that npm installs it without a registry.
 */
const PROJECT = {
  'package.json': JSON.stringify({
    name: 'chain-recorder',
    version: '1.0.0',
    type: 'module',
    bin: { 'chain-recorder': 'dist/cli.js' },
    scripts: { prepare: 'node package/prepare.js', build: 'node src/build.js' },
    devDependencies: { tsx: 'file:tools/tsx' },
  }),
  'tools/tsx/package.json': JSON.stringify({ name: 'tsx', version: '1.0.0' }),
  'src/cli.js': `#!/usr/bin/env node\nconsole.log('recorded', ...process.argv.slice(2));\n`,
  'src/build.js': `
    import { appendFileSync, copyFileSync, mkdirSync } from 'node:fs';
    mkdirSync('dist', { recursive: true });
    copyFileSync('src/cli.js', 'dist/cli.js');
    appendFileSync('builds', 'built\\n');`,
};

const place = temporaryFolder('prepare');
let dir: string;

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, {
    cwd: dir,
    env: { PATH, HOME, npm_config_cache: join(dir, '.cache'), npm_config_offline: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

const install = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  run('npm', ['ci', '--no-audit', '--no-fund', ...args], env);
/** Returns the number of builds of the project. */
const builds = () =>
  readFileSync(join(dir, 'builds'), { encoding: 'utf8', flag: 'a+' }).split('\n').length - 1;
/** Returns the files of the build, with the attributes that change if one is written again. */
const builtFiles = () =>
  readdirSync(join(dir, 'dist')).map((name) => {
    const { ino, mtimeMs } = statSync(join(dir, 'dist', name));
    return { name, ino, mtimeMs };
  });

beforeEach(async () => {
  dir = mkdtempSync(join(place, 'project-'));
  for (const [name, content] of Object.entries(PROJECT)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  cpSync(resolve('package/prepare.js'), join(dir, 'package/prepare.js'), { recursive: true });
  await run('npm', ['install', '--package-lock-only', '--ignore-scripts']);
});

describe('npm ci', () => {
  it.each([
    ['an environment without NODE_ENV', {}],
    ['NODE_ENV=production', { NODE_ENV: 'production' }],
  ])('builds with %s, once for the same sources', async (_, env) => {
    expect(await install([], env)).toMatchObject({ code: 0 });
    expect(builds()).toBe(1);
    const before = builtFiles();
    expect(await install([], env)).toMatchObject({ code: 0 });
    expect([builds(), builtFiles()]).toEqual([1, before]);
    writeFileSync(join(dir, 'src/cli.js'), `${PROJECT['src/cli.js']}// changed\n`);
    expect(await install([], env)).toMatchObject({ code: 0 });
    expect(builds()).toBe(2);
  });

  it.each([
    [
      '--omit=dev',
      /dist\/ is missing.*development\s+dependencies.*\(--omit=dev\): run "npm ci --include=dev"/,
    ],
    ['--omit=optional', /programs for this system.*\(--omit=optional\).*run "npm ci --include=optional"/],
  ])('reports a missing file with %s, and keeps an earlier build', async (omit, expected) => {
    const refused = await install([omit]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(expected);
    expect(builds()).toBe(0);
    await install();
    const before = builtFiles();
    expect(await install([omit])).toMatchObject({ code: 0 });
    expect([builds(), builtFiles()]).toEqual([1, before]);
  });
});

it('installs the built file as the command of node_modules/.bin, and neither it nor npx builds', async () => {
  await install();
  const before = builtFiles();
  const command = join(dir, 'node_modules/.bin/chain-recorder');
  expect(realpathSync(command)).toBe(realpathSync(join(dir, 'dist/cli.js')));
  for (const [program, ...args] of [[command], ['npx', 'chain-recorder']] as const)
    expect(await run(program, [...args, 'status'])).toMatchObject({ code: 0, stdout: 'recorded status\n' });
  expect([builds(), builtFiles()]).toEqual([1, before]);
});
