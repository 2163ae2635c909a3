import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect } from 'vitest';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { checkProcesses, checkRecording } from '../../src/doctor/check-recording.ts';
import { checkServer } from '../../src/doctor/check-server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createConfiguration } from '../../src/recording/configuration.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { registerAll } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase({ max: 2 });
const recorded = withDatabase({ recorded: true, max: 1 });

const configure = (change: object) => {
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:9650' }];
  const config = validateConfig(
    { network: 'mainnet', upstreams: { nodes }, ...change },
    catalogNames,
    'test',
  );
  return { config, watched: activeFeeds(config) };
};

describe('the processes of a record', () => {
  const examine = (change: object) => {
    const { config, watched } = configure(change);
    return checkProcesses(sql, config, watched);
  };

  it('are listed, with the settings that conflict with this configuration', async () => {
    expect(await examine({})).toEqual([
      { check: 'processes', ok: true, found: expect.stringContaining('no process is recording') },
    ]);
    const { config, watched } = configure({});
    const registration = await ProcessRegistration.join(sql, createConfiguration(config, watched), 'host/7', [
      'worker',
    ]);
    await registerAll(sql, watched, Date.now(), registration.registrant);
    expect(await examine({})).toEqual([{ check: 'processes', ok: true, found: 'host/7 records' }]);
    expect(await examine({ network: 'fuji' })).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining('records mainnet'),
        fix: expect.stringContaining('name:'),
      },
    ]);
    expect(await examine({ datasets: { peers: { every: '7m' } } })).toMatchObject([
      { ok: false, found: 'host/7 runs with another configuration than this one' },
    ]);
    const others = await examine({ name: 'second' });
    expect(others.length).toBeGreaterThan(0);
    for (const { ok, found } of others) {
      expect(ok).toBe(false);
      expect(found).toContain('the recorder "recorder" already records this target');
    }
    await registration.leave();
    expect(await examine({ name: 'second' })).toMatchObject([{ ok: true }]);
  });
});

it('reports alert channels and sinks whose deliveries fail', async () => {
  const { config, watched } = configure({});
  const registration = await ProcessRegistration.join(sql, createConfiguration(config, watched), 'host/8', [
    'worker',
  ]);
  await sql`insert into recorder.alert_channels (recorder, channel, failing_since, error) values ('recorder', 'pager', now(), 'HTTP 403')`;
  await sql`insert into recorder.change_sinks (recorder, sink, since, failing_since, error) values ('recorder', 'lake', now(), now(), 'HTTP 404')`;
  const failed = (await checkRecording(sql, null, [], systemClock)).filter(({ ok }) => !ok);
  expect(failed.map(({ found }) => found)).toEqual([
    expect.stringContaining('the channel pager: the delivery failed: HTTP 403'),
    expect.stringContaining('the sink lake: the sink accepts no changes: HTTP 404'),
  ]);
  await sql`delete from recorder.alert_channels`;
  await sql`delete from recorder.change_sinks`;
  await registration.leave();
});

describe('the coverage of blocks', () => {
  it('beyond the possible heights of a chain is reported, with a statement that fixes it', async () => {
    await sql`insert into recorder.coverage (dataset, target_key, axis, covered) values
      ('native_transactions', 'address=0xa chainId=43114', 'height', '{[0,71234548)}'),
      ('native_transactions', 'address=0xb chainId=43114', 'height', '{[0,9007199254740971)}'),
      ('metric_points', 'chainId=43114', 'time', '{[1577836800000,1763600000000)}')`;
    const blind = async () =>
      (await checkRecording(sql, null, [], systemClock)).filter(({ check }) => check === 'coverage');
    const [found, ...others] = await blind();
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      ok: false,
      found: expect.stringContaining('native_transactions of address=0xb chainId=43114'),
    });
    const statement = /update .*$/.exec(found?.fix ?? '')?.[0] ?? '';
    await sql.unsafe(statement.replace('HEIGHT', '71234567'));
    expect(await blind()).toEqual([]);
    const rows = await sql`
      select covered::text from recorder.coverage where dataset = 'native_transactions' order by target_key`;
    expect(rows.map(({ covered }) => covered)).toEqual(['{[0,71234548)}', '{[0,71234567)}']);
  });

  recorded.it('within the possible heights is valid', async () => {
    const [covered] =
      await recorded.sql`select count(*)::int as targets from recorder.coverage where axis = 'height'`;
    expect(covered?.targets).toBeGreaterThan(2);
    const checks = await checkRecording(recorded.sql, null, [], systemClock);
    expect(checks.filter(({ check }) => check === 'coverage')).toEqual([]);
  });
});

describe('the server', () => {
  const { config } = configure({});
  const examine = (port: number, host = '127.0.0.1') => checkServer({ host, port, token: undefined }, config);

  it('can listen on a free port', async () => {
    expect(await examine(await findFreePort())).toMatchObject({ ok: true });
  });

  it.each([
    ['another program', 'hello', { ok: false, found: expect.stringMatching(/in use by another program$/) }],
    [
      'a recorder',
      '{"status":"up"}',
      { ok: true, found: expect.stringContaining('a chain-recorder listens') },
    ],
  ])('reports the use of its port: %s', async (_, answer, expected) => {
    const other = createServer((_request, response) => response.end(answer)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    expect(await examine(typeof address === 'object' ? (address?.port ?? 0) : 0)).toMatchObject(expected);
    other.close();
  });

  it('reports public access without a token, and a host of another machine', async () => {
    expect(await examine(0, '0.0.0.0')).toMatchObject({
      ok: false,
      found: expect.stringContaining('set RECORDER_TOKEN'),
    });
    const elsewhere = await checkServer({ host: '192.0.2.1', port: 0, token: 'x'.repeat(16) }, config);
    expect(elsewhere).toMatchObject({
      ok: false,
      found: 'RECORDER_HOST: 192.0.2.1 is not an address of this machine',
      fix: expect.stringContaining('127.0.0.1'),
    });
  });
});
