import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { buildRecorder } from '../../chaos/build.ts';
import { Closers } from '../../chaos/closers.ts';
import { blockTargets, dayOf, midnight } from '../../chaos/settings.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { catalogNames } from '../../src/configured-feeds.ts';
import { startDatabase } from '../database.ts';
import { ask, differing, INSTANTS, instantsUntil, questionsOf } from './as-of.ts';
import { recordFirstVersion } from './first-version.ts';
import {
  blocks,
  bookkeepingAfter,
  bookkeepingBefore,
  doubled,
  type Finding,
  gapsBetween,
  readingsOfRuns,
} from './meanwhile.ts';
import { start, Upgrading } from './upgrade.ts';

/**
 * Brings a database of the first version to this one by `up`, which records from the sandbox meanwhile and is killed again and again, and
 * compares what is told of it before and after. It fails where something was lost, is there twice or differs. By hand:
 * `npx tsx bench/migration/main.ts [--rows 10000000] [--kills 20]`.
 */
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '10000000' }, kills: { type: 'string', default: '20' } },
});
const POLLED = 10_000;
const NODES = ['validator-1', 'validator-2'];
const tell = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const closers = new Closers();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void closers.end().then(() => process.exit(130)));

const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  const made = await work();
  tell(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s; load ${loadavg()[0]?.toFixed(1)}`);
  return made;
};

async function run(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'chain-recorder-migration-'));
  closers.add(() => rm(dir, { recursive: true, force: true }));
  // The first packing begins after two seconds instead of a minute: each start has one.
  const cli = await buildRecorder(join(dir, 'recorder'), [
    { file: 'commands/up.ts', from: 'CLOSE_FIRST = 60_000', to: 'CLOSE_FIRST = 2_000' },
  ]);
  const server = await startDatabase();
  closers.add(() => server.close());
  const sandbox = await startSandbox({ incidents: false });
  closers.add(() => sandbox.close());
  const nodeIds = sandbox.network.validators.nodes.map(({ nodeId }) => nodeId);
  const watched = blockTargets(nodeIds.slice(0, 1), midnight(1), Date.now() - 11 * 60_000);
  await writeFile(
    join(dir, 'recorder.yaml'),
    JSON.stringify(configuration(sandbox.url, nodeIds.slice(0, 1))),
  );

  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  closers.add(() => admin.end());
  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  await admin`create database first`;
  const url = urlOf('first');
  const first = await timed('the record of the first version', () =>
    recordFirstVersion(url, nodeIds, Number(values.rows), tell),
  );
  tell(`${first.rows} rows, ${Math.round(first.bytes / 1e6)} MB`);
  const instants = instantsUntil(first.until);
  const questions = await questionsOf(url);
  const said = await timed(`${questions.length} questions as of ${INSTANTS} instants`, () =>
    ask(url, questions, instants),
  );
  const looked = postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
  const bookkeeping = await bookkeepingBefore(looked);
  await looked.end();

  await admin`create database trial template first strategy file_copy`;
  const began = performance.now();
  const trial = start({ cli, dir, url: urlOf('trial') }, ['migrate']);
  closers.add(() => trial.end());
  if ((await trial.ended).code !== 0) throw new Error(`the migration failed: ${trial.lines.join('\n')}`);
  const usual = performance.now() - began;
  await admin`drop database trial`;
  tell(`a migration that is left alone: ${(usual / 1000).toFixed(1)} s`);

  const upgrading = new Upgrading({ cli, dir, url }, tell);
  closers.add(() => upgrading.close());
  const upgrade = await upgrading.run(Number(values.kills), usual);

  const sql = postgres(url, {
    max: 1,
    onnotice: () => {},
    connection: { TimeZone: 'UTC', jit: 'off', work_mem: '64MB' },
  });
  closers.add(() => sql.end());
  const [size] = await sql<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`;
  const after = await timed('the same questions', () => ask(url, questions, instants));
  const equal = questions.map(({ what }, at): Finding => {
    const [was, is] = [said[at], after[at]];
    if (!was || !is) throw new Error(`${what} was not answered`);
    return { what: `as of: ${what}, ${was.rows.at(-1)} rows`, looked: INSTANTS, wrong: differing(was, is) };
  });
  const meanwhile = await gapsBetween(sql, first, upgrade.stretches, POLLED);
  const findings: Finding[] = [
    ...equal,
    ...(await bookkeepingAfter(sql, bookkeeping, first)),
    ...(await timed('whether anything is there twice', () => doubled(sql))).map((one) => ({
      ...one,
      what: `once: ${one.what}`,
    })),
    ...(await readingsOfRuns(sql, first)),
    await blocks(sql, sandbox, watched),
    ...meanwhile.findings,
    {
      what: 'kills at work',
      looked: Number(values.kills),
      wrong: Number(values.kills) - upgrade.killedMigrating - upgrade.killedPacking,
    },
    { what: 'up, asked to stop, ends with 0', looked: 1, wrong: upgrade.code === 0 ? 0 : 1 },
  ];
  const seal = start({ cli, dir, url }, ['seal']);
  closers.add(() => seal.end());
  await timed('seal', () => seal.ended);
  const verify = start({ cli, dir, url }, ['verify']);
  closers.add(() => verify.end());
  const { code } = await timed('verify', () => verify.ended);
  findings.push({
    what: 'a seal made of all of it afterwards holds (verify)',
    looked: 1,
    wrong: code === 0 ? 0 : 1,
  });
  if (code !== 0) tell([verify.stdout, ...verify.lines].join('\n'));

  console.log('| what | rows, things or instants compared | wrong |\n| --- | --- | --- |');
  for (const { what, looked: times, wrong } of findings) console.log(`| ${what} | ${times} | ${wrong} |`);
  const wrong = findings.filter((one) => one.wrong !== 0).length;
  console.log(
    `\n${first.rows} rows of the first version (${Math.round(first.bytes / 1e6)} MB, now ${Math.round((size?.bytes ?? 0) / 1e6)} MB): migrated in ` +
      `${upgrade.migrating.toFixed(1)} s, ${upgrade.days} days packed in ${upgrade.packing.toFixed(1)} s with ${upgrade.killedPacking} kills, ${upgrade.killedMigrating} kills before; ` +
      `a process held at most ${upgrade.peak} MiB; two looks of one process were at most ${(meanwhile.longest / 1000).toFixed(1)} s apart (polls every ${POLLED / 1000} s); ` +
      `${wrong === 0 ? 'nothing is wrong' : `${wrong} THINGS ARE WRONG`}; load ${loadavg()[0]?.toFixed(1)}`,
  );
  return wrong === 0;
}

function configuration(url: string, nodeIds: readonly string[]) {
  const left = catalogNames.datasets.map((dataset) => [dataset, { enabled: false }]);
  const polled = { every: `${POLLED / 1000}s` };
  return {
    network: 'mainnet',
    upstreams: {
      chainData: { url },
      metrics: { url },
      nodes: NODES.map((name) => ({ name, url: `${url}/nodes/${name}` })),
    },
    watch: { nodeIds, chains: ['888002'] },
    datasets: {
      ...Object.fromEntries(left),
      ...{
        validators: polled,
        validator_uptime: polled,
        peers: polled,
        peer_readings: polled,
        chain_heights: polled,
      },
      proposed_blocks: { ...polled, since: dayOf(midnight(1)) },
      metric_points: { every: '1m', metrics: ['txCount'], intervals: ['day'] },
      node_health: { every: '5s' },
    },
  };
}

try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await closers.end();
}
