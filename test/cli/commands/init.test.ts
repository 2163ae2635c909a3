import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts';
import { catalogNames } from '../../../src/app/configured-feeds.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runCommand } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const dir = temporaryFolder('init');
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false, blocksPerHour: 12 });
});
afterAll(async () => {
  await sandbox.close();
});

const init = (...args: string[]) => runCommand(['init', ...args], {}, dir);

it('writes a valid file with comments, tests each upstream, and never overwrites a file', async () => {
  const [node] = sandbox.watch.nodes;
  const { chains, nodeIds } = sandbox.watch;
  const args = [
    '--network',
    'sandbox',
    '--chain-data',
    sandbox.url,
    '--metrics',
    sandbox.url,
    '--node',
    `one=${sandbox.url}${node?.path}`,
  ];
  const made = await init(...args, '--chain', chains[0] ?? '', '--node-id', nodeIds[0] ?? '');
  expect(made.code, made.stdout + made.stderr).toBe(0);
  expect(made.stdout).toMatch(/^recorder.yaml was written\n/);
  expect(made.stdout.match(/^ok /gm)).toHaveLength(3);
  const file = join(dir, 'recorder.yaml');
  expect(loadConfig(file, catalogNames)).toMatchObject({
    network: 'sandbox',
    upstreams: { nodes: [{ name: 'one' }] },
    watch: { chains: [chains[0]], nodeIds: [nodeIds[0]] },
  });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('# What is recorded.');
  const [, schema = ''] = /^# yaml-language-server: \$schema=(.*)$/m.exec(text) ?? [];
  expect(JSON.parse(readFileSync(schema, 'utf8')).title).toBe('chain-recorder configuration');
  const again = await init('--network', 'fuji');
  expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('not overwritten') });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('watches the validators of the given nodes, unless node ids are given', async () => {
  const [one, two] = sandbox.watch.nodes;
  const nodes = [one, two].flatMap((node) => ['--node', `${sandbox.url}${node?.path}`]);
  const base = ['--network', 'sandbox', '--chain-data', '', '--metrics', '', ...nodes];
  const ids = sandbox.nodes.slice(0, 2).map(({ identity }) => identity.nodeId);
  await init(...base, '--config', 'mine.yaml');
  expect(loadConfig(join(dir, 'mine.yaml'), catalogNames).watch.nodeIds).toEqual(ids);
  await init(...base, '--config', 'unchecked.yaml', '--no-check');
  expect(loadConfig(join(dir, 'unchecked.yaml'), catalogNames).watch.nodeIds).toEqual([]);
  await init(...base, '--config', 'given.yaml', '--node-id', ids[1] ?? '');
  expect(loadConfig(join(dir, 'given.yaml'), catalogNames).watch.nodeIds).toEqual([ids[1]]);
});

it('writes the file also if an upstream does not respond, and reports that', async () => {
  const args = ['--config', 'other.yaml', '--network', 'fuji', '--chain-data', '', '--metrics', ''];
  const { code, stdout } = await init(...args, '--node', 'http://127.0.0.1:1');
  expect(code).toBe(1);
  expect(stdout).toMatch(/FIX +nodes\/node-1 .*nothing listens/);
  expect(loadConfig(join(dir, 'other.yaml'), catalogNames).network).toBe('fuji');
});

it('writes nothing if an input is invalid', async () => {
  const { code, stderr } = await init('--config', 'bad.yaml', '--node', 'ftp://node', '--chain', 'x');
  expect(code).toBe(2);
  expect(stderr).toContain('bad.yaml: upstreams.nodes[0].url: must be an http or https URL');
  expect(stderr).toContain('bad.yaml: watch.chains[0]');
});

it('writes the file that RECORDER_CONFIG names, which every other command reads', async () => {
  const env = { RECORDER_CONFIG: 'named.yaml' };
  const { code, stdout } = await runCommand(['init', '--network', 'fuji', '--no-check'], env, dir);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'named.yaml was written\n' });
  expect(existsSync(join(dir, 'named.yaml'))).toBe(true);
});

it('prints the written file and the results of its checks as JSON', async () => {
  const args = ['--network', 'fuji', '--chain-data', '', '--metrics', '', '--node', 'http://127.0.0.1:1'];
  const found = await init('--json', '--config', 'found.yaml', ...args);
  expect(found.code).toBe(1);
  expect(JSON.parse(found.stdout)).toEqual({
    written: 'found.yaml',
    checked: [expect.objectContaining({ check: 'nodes/node-1', ok: false })],
  });
  const unchecked = await init('--json', '--config', 'without-checks.yaml', '--no-check', ...args);
  expect(JSON.parse(unchecked.stdout)).toEqual({ written: 'without-checks.yaml', checked: [] });
});

it('writes a file without services for the sandbox, which is recorded if a file names no service', async () => {
  expect(await init('--network', 'sandbox', '--config', 'sandbox.yaml')).toMatchObject({ code: 0 });
  const { network, upstreams, watch } = loadConfig(join(dir, 'sandbox.yaml'), catalogNames);
  expect({ network, upstreams, chains: watch.chains }).toEqual({
    network: 'sandbox',
    upstreams: { nodes: [] },
    chains: [],
  });
});

it('writes the budgets that public services grant without a key, and none for others', async () => {
  const writtenBudgets = async (file: string, ...args: string[]) => {
    await init('--no-check', '--config', file, ...args);
    const { chainData, metrics } = loadConfig(join(dir, file), catalogNames).upstreams;
    return [chainData?.budget, metrics?.budget];
  };
  const perDay = 1_200_000;
  expect(await writtenBudgets('public.yaml')).toEqual([
    { perMinute: 6_000, perDay },
    { perMinute: 8_000, perDay },
  ]);
  const others = ['--chain-data', 'https://glacier-api.avax.network/v1', '--metrics', sandbox.url];
  expect(await writtenBudgets('others.yaml', ...others)).toEqual([{ perMinute: 6_000, perDay }, undefined]);
});

it('explains that without an upstream nothing is checked', async () => {
  const base = ['--network', 'sandbox', '--chain-data', '', '--metrics', ''];
  expect(await init(...base, '--config', 'bundled.yaml')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing to check: no upstream is configured'),
  });
});
