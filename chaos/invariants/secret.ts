import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argumentsOf } from '../processes.ts';
import { CANARY, type World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** H: the key is found nowhere: logs, both databases, payloads of jobs, process arguments, pages, error texts. */
export const secret: Invariant = {
  letter: 'H',
  description: 'the canary key is found nowhere',
  async check(world) {
    const places: { where: string; text: string }[] = [...world.evidence.texts];
    for (const recorder of world.recorders) {
      places.push({ where: `the log of ${recorder.args[0]}`, text: recorder.lines.join('\n') });
      places.push({ where: `the output of ${recorder.args[0]}`, text: recorder.stdout });
      if (recorder.running)
        places.push({ where: 'process arguments', text: await argumentsOf(recorder.pid) });
    }
    places.push(...(await tables(world)), ...(await redisValues(world)));
    const log = join(world.setting.postgres.data, '..', 'postgres.log');
    places.push({ where: "PostgreSQL's log", text: await readFile(log, 'utf8').catch(() => '') });
    return places.flatMap(({ where, text }) => (text.includes(CANARY) ? [`${where} contains the key`] : []));
  },
};

/** Every row of every table that contains the key, as text. */
async function tables({ sql }: World) {
  const names = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const found: { where: string; text: string }[] = [];
  for (const { schema, name } of names) {
    const rows = await sql<{ row: string }[]>`
      select t::text as row from ${sql(schema)}.${sql(name)} t where position(${CANARY} in t::text) > 0 limit 1`;
    for (const { row } of rows) found.push({ where: `table ${schema}.${name}`, text: row });
  }
  return found;
}

/** The content of Redis, as it would be dumped; empty if the queue is not there. */
async function redisValues(world: World) {
  if (world.backend !== 'redis') return [];
  const keys = await world.redis.command('KEYS', '*');
  const texts: string[] = [];
  for (const key of Array.isArray(keys) ? keys.map(String) : []) {
    const type = String(await world.redis.command('TYPE', key));
    const read = READ[type];
    if (read) texts.push(key, JSON.stringify(await world.redis.command(...read(key))));
  }
  return [{ where: 'Redis', text: texts.join('\n') }];
}

const READ: Readonly<Record<string, (key: string) => [string, ...string[]]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};
