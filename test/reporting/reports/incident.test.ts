import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { storeIncidentNote } from '../../../src/health/incident-notes.ts';
import { incidentsBetween, readMoments } from '../../../src/reporting/reports/incident.ts';
import { incidentMarkdown } from '../../../src/reporting/reports/incident-page.ts';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { it, database, sql } = withDatabase({ max: 2, connection: { TimeZone: 'UTC' } });
const folder = temporaryFolder('incident');

const at = (time: string) => new Date(`2026-11-01T${time}:00Z`);

it('the report of an incident has everything that was recorded around it in the order of time, without markup', async () => {
  await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('paris', ${at('12:00')})`;
  for (const node of ['a', 'a2']) {
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at)
      values ('paris', ${node}, 'health', 9, ${at('12:00')})`;
    const ledger = [
      { state: 'up', started_at: at('01:00'), ended_at: at('03:00'), error: null },
      {
        state: 'down',
        started_at: at('03:00'),
        ended_at: at('03:40'),
        error: 'disk *full* | <b>99 %</b>\nof it',
      },
      { state: 'up', started_at: at('03:40'), ended_at: null, error: null },
    ];
    for (const row of ledger)
      await sql`insert into recorder.node_health ${sql({ ...row, observer: 'paris', node, probe: 'health', check_name: '*', reported: true })}`;
  }
  for (const [from, to] of [
    ['02:30', '02:31'],
    ['03:20', '03:25'],
  ] as const)
    await sql`insert into recorder.health_absences values ('paris', ${at(from)}, ${at(to)}, 'the recorder was off')`;
  await sql`insert into recorder.health_maintenance (node, starts_at, ends_at, reason, announced_at)
    values (null, ${at('03:30')}, ${at('03:35')}, 'new disk', ${at('03:20')})`;
  for (const [version, from, to] of [
    ['avalanche/1.13', '00:00', '02:50'],
    ['avalanche/1.14', '02:50', null],
  ] as const)
    await sql`insert into recorder.node_identity (node, version, valid_from, valid_to, ended_by, run_id)
      values ('a', ${version}, ${at(from)}, ${to && at(to)}, ${to && 'changed'}, 1)`;
  for (const subject of ['a', 'a2'])
    await sql`insert into recorder.alerts (recorder, rule, subject, severity, state, summary, began_at, fired_at, acknowledged_at, acknowledged_by, note, resolved_at)
      values ('recorder', 'node-down', ${subject}, 'critical', 'resolved', ${`${subject} is down`}, ${at('03:01')}, ${at('03:02')}, ${at('03:10')}, 'ann', 'the disk is ordered', ${at('03:45')})`;
  await sql`insert into recorder.gaps values ('validators', 'node=a subnetId=1', 'time',
    int8range(${at('03:00').getTime()}, ${at('03:40').getTime()}), 'not observed: it did not answer', ${at('03:41')})`;
  await storeIncidentNote(
    sql,
    { node: 'a', at: at('03:15').getTime(), author: 'ann', note: 'the log *filled* the disk' },
    at('05:00').getTime(),
  );
  await storeIncidentNote(
    sql,
    { node: 'a2', at: at('03:15').getTime(), author: 'bob', note: 'of another node' },
    at('05:00').getTime(),
  );

  const window = { from: at('02:00'), to: at('05:00') };
  const incidents = await incidentsBetween(sql, 'a', window);
  const moments = await readMoments(sql, 'a', window);
  expect(incidentMarkdown({ node: 'a', ...window, incidents, ...moments }).split('\n')).toEqual([
    '# a, 2026-11-01 02:00:00 to 2026-11-01 05:00:00 (UTC)',
    '',
    '- health was down from 2026-11-01 03:00:00 until 2026-11-01 03:40:00 (2100 s, unobserved for 300 s, seen by paris): disk \\*full\\* \\| \\<b\\>99 %\\</b\\> of it',
    '',
    '| time | event | source |',
    '| --- | --- | --- |',
    '| 2026-11-01 02:30:00 | health: unknown: no observer probed the node | observer paris |',
    '| 2026-11-01 02:30:00 | did not probe until 2026-11-01 02:31:00: the recorder was off | observer paris |',
    '| 2026-11-01 02:31:00 | health: up | observer paris |',
    "| 2026-11-01 02:50:00 | version: avalanche/1.13 → avalanche/1.14 | the node's identity |",
    '| 2026-11-01 03:00:00 | health: down: disk \\*full\\* \\| \\<b\\>99 %\\</b\\> of it | observer paris |',
    '| 2026-11-01 03:00:00 | validators could not be recorded until 2026-11-01 03:40:00: not observed: it did not answer | losses |',
    '| 2026-11-01 03:01:00 | condition started: a is down | alert node-down |',
    '| 2026-11-01 03:02:00 | alerted: a is down | alert node-down |',
    '| 2026-11-01 03:10:00 | acknowledged by ann: the disk is ordered | alert node-down |',
    '| 2026-11-01 03:15:00 | the log \\*filled\\* the disk | ann |',
    '| 2026-11-01 03:20:00 | health: unknown: no observer probed the node | observer paris |',
    '| 2026-11-01 03:20:00 | did not probe until 2026-11-01 03:25:00: the recorder was off | observer paris |',
    '| 2026-11-01 03:25:00 | health: down: disk \\*full\\* \\| \\<b\\>99 %\\</b\\> of it | observer paris |',
    '| 2026-11-01 03:30:00 | maintenance until 2026-11-01 03:35:00: new disk | announced |',
    '| 2026-11-01 03:40:00 | health: up | observer paris |',
    '| 2026-11-01 03:45:00 | resolved | alert node-down |',
    '',
  ]);
});

it('notes are written by command and included in report incident; all errors are reported', async () => {
  writeFileSync(
    join(folder, 'recorder.yaml'),
    'network: mainnet\nupstreams: { nodes: [{ name: a, url: "http://127.0.0.1:1" }] }\n',
  );
  const env = { DATABASE_URL: database.url };
  const note = [
    'incidents',
    'note',
    'a',
    '--by',
    'eve',
    '--note',
    'seen again',
    '--at',
    '2026-11-01T03:20:00Z',
  ];
  expect(await runCommand(note, env, folder)).toMatchObject({ code: 0 });
  const { code, stdout } = await runCommand(['report', 'incident', '--node', 'a'], env, folder);
  expect(code).toBe(0);
  expect(stdout).toContain('# a, 2026-11-01 02:00:00 to 2026-11-01 04:40:00 (UTC)');
  expect(stdout).toContain('| 2026-11-01 03:20:00 | seen again | eve |');
  const [stored] = await sql`select node, author, note from reporting.incident_notes where author = 'eve'`;
  expect(stored).toEqual({ node: 'a', author: 'eve', note: 'seen again' });
  const wrong = await runCommand(['incidents', 'note', 'b', '--at', '2999-01-01'], env, folder);
  expect(wrong).toMatchObject({ code: 2 });
  for (const message of ['no such node', '--by', '--note: is missing', 'is in the future'])
    expect(wrong.stderr).toContain(message);
});

it('maintenance is announced by its subcommand alone: options without it are refused', async () => {
  writeFileSync(
    join(folder, 'recorder.yaml'),
    'network: mainnet\nupstreams: { nodes: [{ name: a, url: "http://127.0.0.1:1" }] }\n',
  );
  const maintenance = (...args: string[]) =>
    runCommand(['maintenance', ...args], { DATABASE_URL: database.url }, folder);
  expect(await maintenance('announce', '--node', 'a', '--to', '2999-01-01')).toMatchObject({ code: 0 });
  const [announced] = await sql<
    { id: string }[]
  >`select max(id)::text as id from reporting_internal.node_maintenance`;
  for (const args of [['list'], [], ['end', announced?.id ?? '']])
    expect(await maintenance(...args, '--to', '2999-01-01', '--node', 'a')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^--node: is an option of "maintenance announce"\n--to: is an option of "maintenance announce"/,
      ),
    });
  const [window] =
    await sql`select ends_at > '2998-01-01' as still from reporting_internal.node_maintenance order by id desc limit 1`;
  expect(window).toEqual({ still: true });
});
