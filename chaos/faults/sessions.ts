import type postgres from 'postgres';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { configure, DAY, oneNode } from '../settings.ts';
import { Steady } from '../steady.ts';
import { connect, type World } from '../world.ts';
import type { Fault } from './fault.ts';

/** Unusual settings of a database. */
const SETTINGS = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  TimeZone: 'Asia/Kolkata',
  search_path: 'nowhere',
};

const nameOf = (url: string) => new URL(url).pathname.slice(1);

/** Applies all of them to the world's database. */
async function applySettings({ sql, databaseUrl, evidence }: World): Promise<void> {
  for (const [name, value] of Object.entries(SETTINGS))
    await sql.unsafe(`alter database ${nameOf(databaseUrl)} set ${name} = '${value}'`);
  evidence.serve('settings', Object.keys(SETTINGS).length);
}

const unusualSettings: Fault = {
  numbers: [68],
  title: 'a database with unusual settings under a recorder in regular operation',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'I', 'X'],
  async inject(world) {
    const { evidence, sql } = world;
    await applySettings(world);
    const steady = await Steady.start(world, {
      nodes: oneNode(world),
      datasets: { node_health: { every: '5s' }, validators: { every: '5s' } },
    });
    await steady.waitUntilCovered();
    await steady.expectRecovery('the settings were applied');
    const startedAt = performance.now();
    const status = world.recorder(['status', '--json']);
    evidence.exit(
      'status',
      { ...(await status.ended), elapsedMs: performance.now() - startedAt },
      [0],
      60_000,
    );
    const up = await sql`
      select 1 from reporting_internal.node_states where state = 'up' and ended_at > now() - interval '20 s' and started_at < now()`;
    evidence.claim('the ledger of the node is up to date', up.length > 0);
    await steady.stop();
  },
};

/** Datasets of a paused network that are recorded once. */
const RECORDED_ONCE = ['validators', 'peers', 'subnets', 'native_transactions', 'node_identity'];
/** Datasets that are recorded for a day of it. */
const RECORDED_FOR_A_DAY = ['proposed_blocks', 'metric_points'];
/** Columns that differ between two recordings of the same. */
const RECORDING_COLUMNS = ['run_id', 'observed_at', 'valid_from', 'fetched_at'];

/** The same network, recorded into a database with unusual settings and into a default one. */
const settingIndependence: Fault = {
  numbers: [68],
  title: 'settings of a database do not change what is recorded',
  backends: 'any',
  invariants: ['B', 'X'],
  async inject(world) {
    const { closers, evidence, setting, sql, databaseUrl } = world;
    const now = Date.now();
    const { watch, network } = await world.openSandbox({ clock: () => now, genesisMs: now - 30 * DAY });
    const plain = `${nameOf(databaseUrl)}_plain`;
    const urls = [databaseUrl, await setting.postgres.clone(plain)];
    closers.add(() => setting.postgres.drop(plain));
    await applySettings(world);
    await configure(world, {
      nodes: oneNode(world),
      nodeIds: network.validators.nodes.slice(0, 1).map(({ nodeId }) => nodeId),
      chains: ['43114'],
      evmAddresses: watch.evmAddresses.slice(0, 1),
      datasets: Object.fromEntries([...RECORDED_ONCE, ...RECORDED_FOR_A_DAY].map((dataset) => [dataset, {}])),
    });
    const day = [now - 3 * DAY, now - 2 * DAY].map((at) => new Date(at).toISOString());
    const commands = [
      ...RECORDED_ONCE.map((dataset) => ['record', dataset]),
      ...RECORDED_FOR_A_DAY.map((dataset) => [
        'backfill',
        dataset,
        '--from',
        day[0] ?? '',
        '--to',
        day[1] ?? '',
      ]),
    ];
    for (const url of urls)
      for (const args of commands) {
        const startedAt = performance.now();
        const recorder = world.recorder(args, { env: { DATABASE_URL: url } });
        const ending = { ...(await recorder.ended), elapsedMs: performance.now() - startedAt };
        evidence.exit(args.slice(0, 2).join(' '), ending, [0], 60_000);
      }
    const [unusualSums, defaultSums] = await Promise.all([sums(sql), sums(connect(urls[1] ?? '', closers))]);
    for (const [dataset, sum] of unusualSums) evidence.figures.set(`${dataset}: rows, checksum`, sum);
    for (const dataset of [...RECORDED_ONCE, ...RECORDED_FOR_A_DAY]) {
      evidence.claim(`${dataset} was recorded`, unusualSums.has(dataset));
      const same = unusualSums.get(dataset) === defaultSums.get(dataset);
      evidence.claim(
        `${dataset} is ${unusualSums.get(dataset)}, without settings ${defaultSums.get(dataset)}`,
        same,
      );
    }
  },
};

/**
 * The number of rows of each dataset with rows, and a checksum of their content, without the recording's own columns.
 */
async function sums(sql: postgres.Sql): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, history } of recorded) {
    const rows = `${history === 'sample' ? 'reporting' : 'recorder'}.${name}`;
    const [row] = await sql<{ rows: number; sum: string }[]>`
      select count(*)::int as rows, sum(('x' || left(md5((to_jsonb(t) - ${RECORDING_COLUMNS}::text[])::text), 15))::bit(60)::bigint)::text as sum
      from ${sql(rows)} t`;
    if (row && row.rows > 0) found.set(name, `${row.rows}, ${row.sum}`);
  }
  return found;
}

const otherEncodings: Fault = {
  numbers: [69],
  title: 'a database in SQL_ASCII, and one in LATIN1',
  backends: 'each',
  invariants: ['X'],
  async inject(world) {
    const { closers, evidence, setting, databaseUrl } = world;
    await configure(world, { datasets: { validators: {} }, nodes: oneNode(world) });
    const runOn = async (url: string, command: string) => {
      const startedAt = performance.now();
      const recorder = world.recorder([command], { env: { DATABASE_URL: url } });
      const ending = { ...(await recorder.ended), elapsedMs: performance.now() - startedAt };
      return { ending, output: [...recorder.lines, recorder.stdout].join('\n') };
    };
    for (const encoding of ['SQL_ASCII', 'LATIN1', 'UTF8']) {
      const name = `${nameOf(databaseUrl)}_${encoding.toLowerCase()}`;
      const url = await setting.postgres.blank(name, encoding);
      closers.add(() => setting.postgres.drop(name));
      if (encoding === 'UTF8') {
        // The command of the fix.
        evidence.exit('migrate in UTF-8', (await runOn(url, 'migrate')).ending, [0], 60_000);
        continue;
      }
      for (const command of ['migrate', 'up']) {
        const { ending, output } = await runOn(url, command);
        evidence.exit(`${command} in ${encoding}`, ending, [2], 60_000);
        evidence.claim(
          `${command} in ${encoding} reports the fix: ${output}`,
          output.includes(`encoded in ${encoding}`) &&
            output.includes('createdb --template=template0 --encoding=UTF8'),
        );
      }
      const namespaces = await connect(
        url,
        closers,
      )`select 1 from pg_namespace where nspname in ('recorder', 'reporting')`;
      evidence.claim(`no object was created in ${encoding}`, namespaces.length === 0);
      evidence.serve(`database in ${encoding}`);
    }
  },
};

export const sessionFaults: readonly Fault[] = [unusualSettings, settingIndependence, otherEncodings];
