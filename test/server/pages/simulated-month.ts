import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { request } from 'undici';
import { parse, stringify } from 'yaml';
import { activeFeeds, activeLedgers, catalogNames } from '../../../src/app/configured-feeds.ts';
import { STATE_DIRECTORY } from '../../../src/app/state-directory.ts';
import { createUpstreamOpener } from '../../../src/app/upstream-opener.ts';
import { validateConfig } from '../../../src/config/load.ts';
import { catalog } from '../../../src/datasets/catalog.ts';
import { openCommitPool, openComparisonConnection } from '../../../src/db/client.ts';
import { openEmbedded } from '../../../src/db/embedded/embedded.ts';
import { createProbeQuery } from '../../../src/health/probe-node.ts';
import { loadStates, planAll } from '../../../src/recording/plan.ts';
import { runJobs } from '../../../src/recording/record-in-foreground.ts';
import { registerTargets } from '../../../src/recording/register.ts';
import { compareSources } from '../../../src/reporting/checks/compare.ts';
import { migrate } from '../../../src/reporting/views/migrate.ts';
import { day, hour, minute, World } from '../../health/world.ts';

/**
 * Creates a directory whose recorder has recorded a month of the simulated network, up to now, and continues recording:
 * with incidents and revisions, an outage of the recorder, one of the metrics service, announced maintenance, items
 * that cannot be decoded, and a node that disagrees with the others. For screenshots and for pages with data: `npx tsx
 * test/server/pages/simulated-month.ts DIR [DAYS]`, until Ctrl-C.
 */
const DAYS = Number(process.argv[3] ?? 31);
/** Interval at which everything that is due is recorded, ms. */
const ROUND = 8 * hour;
/** Walks through every block, which rounds so far apart would never complete. */
const DISABLED_DATASETS = ['p_blocks', 'x_blocks', 'x_transactions'];

const folder = resolve(process.argv[2] ?? '');
if (process.argv[2] === undefined) throw new Error('name an empty directory');
const root = fileURLToPath(new URL('../../../', import.meta.url));
mkdirSync(folder, { recursive: true });

const end = Math.floor(Date.now() / minute) * minute;
const start = end - DAYS * day;
const at = (days: number, hours = 0) => start + days * day + hours * hour;
/** When the recorder was off, and when the metrics service did not respond. */
const off = { from: at(12, 9), to: at(13, 1) };
const silent = { from: at(20, 2), to: at(21, 20) };
/** When responses contain items that cannot be decoded, and when a node starts to omit half of the validators. */
const odd = [
  { at: at(10, 2), kind: 'nan-string', service: 'metrics', times: 2 },
  { at: at(18, 2), kind: 'null-item', service: 'data', times: 3 },
  { at: at(25, 2), kind: 'negative', service: 'data', times: 4 },
  { at: at(30, 2), kind: 'nan-string', service: 'node', times: 2 },
  {
    at: at(26, 2),
    kind: 'list-halved',
    service: 'node',
    operation: 'platform.getCurrentValidators',
    target: '/nodes/validator-2',
    untilMs: at(DAYS + 1),
  },
];
const maintenance = [
  { node: 'validator-2', from: at(8, 3), to: at(8, 5) },
  { node: 'validator-1', from: at(24, 1), to: at(24, 2) },
  { node: 'validator-1', from: at(DAYS + 3, 1), to: at(DAYS + 3, 3) },
];

const sandbox = spawn(
  process.execPath,
  [
    join(root, 'dist/sandbox/main.js'),
    '--manual-clock',
    '--parent',
    '--start',
    new Date(start).toISOString(),
  ],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
const url = await addressOf(sandbox);
let simulated = start;
/** Moves the simulated network to a moment. */
async function reach(moment: number): Promise<void> {
  if (moment <= simulated) return;
  const body = JSON.stringify({ advanceMs: moment - simulated });
  simulated = moment;
  await post('clock', body);
}
/** Sends the sandbox a setting of its README. */
async function post(path: string, body: string): Promise<void> {
  const answer = await request(`${url}/_sandbox/${path}`, { method: 'POST', body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the sandbox refuses ${path}: ${answer.statusCode}`);
}

const example = parse(
  readFileSync(join(root, 'examples/sandbox.yaml'), 'utf8').replaceAll('http://sandbox:8650', url),
);
const written = {
  ...example,
  datasets: {
    // Feeds with shorter intervals than the rounds would have a gap after each.
    ...Object.fromEntries(
      catalog.filter(({ source }) => source.every < ROUND).map(({ name }) => [name, { every: '8h' }]),
    ),
    ...Object.fromEntries(DISABLED_DATASETS.map((name) => [name, { enabled: false }])),
    metric_points: {
      every: '8h',
      metrics: ['txCount', 'activeAddresses', 'gasUsed', 'avgGasPrice'],
      intervals: ['hour', 'day'],
    },
    node_health: { every: '5m' },
  },
  health: {
    maintenance: maintenance.map(({ node, from, to }) => ({
      nodes: [node],
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    })),
  },
};
writeFileSync(join(folder, 'recorder.yaml'), stringify(written));
const config = validateConfig(written, catalogNames, 'the simulated month');
const [ledger] = activeLedgers(config);
if (!ledger) throw new Error('no node is watched');

const print = (line: string) => process.stdout.write(`${line}\n`);
const log = { info: () => {}, warn: (_: object, line?: string) => print(line ?? '') };
const embedded = await openEmbedded({ dir: join(folder, STATE_DIRECTORY), log });
await migrate(embedded.url);
const sql = postgres(embedded.url, { max: 4, onnotice: () => {} });
const commits = openCommitPool(embedded.url, 4);
const opened = new World(
  sql,
  ledger.targets[0]?.observer ?? '',
  ledger.targets.map(({ node = '', probe = '' }) => ({ node, probe })),
  start,
  ledger.every,
);
const clock = () => opened.now;
const open = createUpstreamOpener(config, { chainDataKey: undefined, metricsKey: undefined }, sql, clock);
const probe = createProbeQuery(open, ledger, clock);
const never = new AbortController().signal;
opened.windows = maintenance.map(({ node, from, to }) => ({ nodes: [node], from, to }));
opened.respond = async (node) => {
  await reach(opened.now);
  return probe({ node, probe: 'health' }, never);
};

await opened.start();
while (opened.now < end) {
  if (opened.now >= off.from && opened.now < off.to) {
    await opened.kill();
    opened.now = off.to;
    await opened.start();
  }
  await reach(opened.now);
  for (const { at: when, ...fault } of odd)
    if (when > opened.now - ROUND && when <= opened.now) await post('faults', JSON.stringify(fault));
  await recordDueJobs();
  await opened.pass(Math.min(ROUND, end - opened.now));
  print(`recorded up to ${new Date(opened.now).toISOString()}`);
}
const comparison = openComparisonConnection(embedded.url);
await compareSources(comparison, opened.now, never);
await opened.kill();
await Promise.all([comparison.end(), sql.end(), commits.end()]);
await embedded.close();

const recorder = spawn(process.execPath, [join(root, 'dist/cli.js'), 'up'], {
  cwd: folder,
  stdio: 'inherit',
});
const going = setInterval(() => void reach(Date.now()), 1000);
process.once('SIGINT', () => recorder.kill('SIGINT'));
process.once('SIGTERM', () => recorder.kill('SIGTERM'));
await once(recorder, 'exit');
clearInterval(going);
sandbox.kill();

async function recordDueJobs(): Promise<void> {
  for (const feed of activeFeeds(config)) {
    if (feed.source.upstream === 'metrics' && opened.now >= silent.from && opened.now < silent.to) continue;
    await registerTargets(sql, feed, opened.now);
    const jobs = planAll(feed, feed.targets, await loadStates(sql, feed), opened.now);
    await runJobs({ sql, commits, clock, worker: 'simulated', open }, feed, jobs, never);
  }
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the sandbox printed nothing');
  const [line] = await once(createInterface({ input: stdout }), 'line');
  const message: unknown = JSON.parse(String(line));
  return typeof message === 'object' && message !== null && 'url' in message ? String(message.url) : '';
}
