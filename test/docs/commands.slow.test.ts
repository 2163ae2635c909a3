import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { commandEnvironment } from '../support/cli.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { onPath } from '../support/on-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { codeBlocks } from './documents.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Documents whose shell blocks are covered by other tests: SQL of saved queries, HTTP, developers' commands, other
 * programs.
 */
const TESTED_ELSEWHERE =
  /^(docs\/reference\/(questions|cli|http)|docs\/explanation\/performance|CONTRIBUTING|SECURITY|chaos\/|bench\/|examples\/|test\/)/;

/** Lines that are not run, with the reasons. */
const SKIPPED: readonly [RegExp, string][] = [
  [/^npm ci && npm start$/, 'installs packages: the packed package has a test of its own'],
  [/^export PATH=/, 'the command is on PATH already'],
  [/chain-recorder up$/, 'records until it is stopped'],
  [/^npx tsx bench/, 'a simulated year'],
  [/s3:\/\/my-bucket\/recorder --incremental$/, 'a bucket of AWS'],
  [/^mv \.recorder/, 'the database of this test is not the embedded one'],
  [/^node -e .*listen/, 'the receiver of this test is used'],
  [/_sandbox\/faults|\$sandbox$/, 'the sandbox of this test is used'],
  [/^(pg_dump|createdb|pg_restore)|\/restored chain-recorder/, 'test/db/pg-dump.slow.test.ts'],
  [/where seal = 12/, 'seal 12 is of a longer record'],
];

/** Commands with another exit code than 0, with the reasons. */
const EXIT_CODES: readonly [RegExp, readonly number[], string][] = [
  [/^chain-recorder alerts ack 17/, [2], 'the record has no alert 17'],
  [
    /^chain-recorder (doctor|status)$/,
    [0, 1],
    'no process continues this record, which is a finding after a while',
  ],
  [
    /--as-of 2026-12-01T12:00$/,
    [2],
    'no process settles the ledger of this record, so that the time may still change',
  ],
  [/^chain-recorder report incident/, [2], 'the record has no incident'],
  [/^chain-recorder verify --public-key/, [1], 'seals that were made before the key are not signed with it'],
];

const missing = ['psql', 'openssl'].filter((program) => !onPath(program));
for (const program of missing) console.warn(`Skipping documented commands of ${program}: it is not on PATH.`);

/** Returns the shell lines of the documents, with continued lines joined. */
const lines = codeBlocks('sh')
  .filter(({ path }) => !TESTED_ELSEWHERE.test(path))
  .flatMap(({ path, code }) =>
    code
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => ({ path, line: line.trim().replace(/ +# .*$/, '') })),
  )
  .filter(({ line }) => line !== '');

const paths = [...new Set(lines.map(({ path }) => path))];
const { it, database } = withDatabase();
const dir = temporaryFolder('documents');
const emptied: TestDatabase[] = [];
const receiver = createServer((request, response) => request.resume().on('end', () => response.end()));
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false, blocksPerHour: 12 });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  mkdirSync(join(dir, 'bin'));
  writeFileSync(
    join(dir, 'bin/chain-recorder'),
    `#!/bin/sh\nexec '${process.execPath}' '${inject('cli')}' "$@"\n`,
  );
  chmodSync(join(dir, 'bin/chain-recorder'), 0o755);
  const folder = folderOf('a first record');
  for (const command of ['record validators', 'record node_health', 'seal'])
    expect(await run(`chain-recorder ${command}`, folder)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await sandbox.close();
  receiver.close();
  for (const one of emptied) await one.close();
});

/** Creates the folder of a document; one that writes the configuration itself gets none. */
function folderOf(path: string): string {
  const folder = join(dir, path.replaceAll('/', '-'));
  mkdirSync(folder);
  if (lines.some((one) => one.path === path && one.line.startsWith('chain-recorder init'))) return folder;
  const config = {
    network: 'sandbox',
    upstreams: {
      chainData: { url: sandbox.url },
      metrics: { url: sandbox.url },
      nodes: sandbox.watch.nodes.map(({ name, path }) => ({ name, url: sandbox.url + path })),
    },
    watch: { chains: sandbox.watch.chains.slice(0, 1), nodeIds: sandbox.watch.nodeIds.slice(0, 1) },
    alerts: { channels: [{ name: 'ops', type: 'webhook', url: `${hooks()}/\${HOOK_KEY}` }] },
  };
  writeFileSync(join(folder, 'recorder.yaml'), stringify(config));
  return folder;
}

/** Returns the URL of the receiver of webhooks. */
function hooks(): string {
  const address = receiver.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

/** Adds the alerts of a document to the file that its `init` wrote. */
function addAlerts(path: string, folder: string): void {
  const blocks = codeBlocks('yaml').filter(
    (block) => block.path === path && block.code.startsWith('alerts:'),
  );
  for (const { code } of blocks)
    appendFileSync(
      join(folder, 'recorder.yaml'),
      code.replace(/https:\/\/hooks\.example|http:\/\/127\.0\.0\.1:9000/, hooks()),
    );
}

/** Returns the month this far from the current one, as YYYY-MM. */
function month(offset: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString().slice(0, 7);
}

/** Replaces addresses, folders, ids and times of a reader by those of this test. */
function localize(line: string, folder: string): string {
  const [node] = sandbox.watch.nodes;
  return (
    line
      .replaceAll(/\/var\/(lake|www|backups)|\/tmp\/record\b/g, (path) => folder + path)
      .replace('http://10.0.0.11:9650', `${sandbox.url}${node?.path}`)
      .replace('$(npm root)/chain-recorder', ROOT)
      .replace(/--network (mainnet|fuji)/, '--network sandbox')
      .replace('NodeID-…', sandbox.watch.nodeIds[0] ?? '')
      // Each moment of a replay evaluates all rules.
      .replace(
        '--from 2026-10-01 --to 2026-11-01',
        `--from ${new Date(Date.now() - 3_600_000).toISOString()}`,
      )
      .replace('--as-of 2026-12-01T12:00', `--as-of ${new Date().toISOString()}`)
      .replaceAll('2026-11', month(0))
      .replaceAll('2026-12', month(1))
      .replace('--to-height 1000000', '--to-height 100')
      .replace(/^DATABASE_URL=postgres:\S+ /, '')
  );
}

/** Runs a line in bash: a restore into a separate database. */
async function run(line: string, cwd: string) {
  const restored = line.includes('chain-recorder restore') ? await emptyDatabase() : null;
  if (restored) emptied.push(restored);
  const env = {
    ...commandEnvironment(cwd),
    DATABASE_URL: restored?.url ?? database.url,
    HOOK_KEY: 'hook-12345678',
    LOG_LEVEL: 'warn',
  };
  const PATH = `${join(dir, 'bin')}:${process.env.PATH}`;
  return new Promise<{ code: number; output: string }>((resolve) =>
    execFile('bash', ['-c', line], { cwd, env: { ...env, PATH } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout.slice(-1000) + stderr.slice(-2000) }),
    ),
  );
}

describe('shell blocks of the documents', () => {
  it('are found, and each exception matches a line', () => {
    expect(lines.length).toBeGreaterThan(50);
    for (const [pattern] of [...SKIPPED, ...EXIT_CODES])
      expect(
        lines.some(({ line }) => pattern.test(line)),
        String(pattern),
      ).toBe(true);
  });

  it.for(paths)('%s: each command runs as written', async (path) => {
    const folder = folderOf(path);
    const failures: string[] = [];
    for (const { line } of lines.filter((one) => one.path === path)) {
      if (SKIPPED.some(([pattern]) => pattern.test(line)) || missing.some((name) => line.startsWith(name)))
        continue;
      const expected = EXIT_CODES.find(([pattern]) => pattern.test(line))?.[1] ?? [0];
      const { code, output } = await run(localize(line, folder), folder);
      if (line.startsWith('chain-recorder init')) addAlerts(path, folder);
      if (!expected.includes(code)) failures.push(`${line}: exit code ${code}\n${output}`);
    }
    expect(failures).toEqual([]);
  });
});
