import { expect } from 'vitest';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 3, connection: { TimeZone: 'UTC' } });
const clock = new ManualClock(Date.UTC(2026, 0, 10));

/** The query of docs/how-to/change-feed.md: the versions of the keys that changed after a cursor. */
const CHANGED = `with changed as (
  select distinct key ->> 'node' as node, key ->> 'subnet_id' as subnet_id, key ->> 'node_id' as node_id
  from reporting.changes($1, 2147483647) where dataset = 'validators')
select h.* from reporting.node_validators_history h join changed using (node, subnet_id, node_id)`;

/** Applies the changes after the last cursor to a copy, as an incremental model of dbt does. */
async function update(): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    const [last] = await tx<
      { cursor: string }[]
    >`select cursor from public.cursors order by taken desc limit 1`;
    await tx.unsafe(
      `create temporary table changed on commit drop as ${CHANGED}`.replace(
        '$1',
        last ? `'${last.cursor}'` : 'null',
      ),
    );
    await tx`delete from public.copy where version_id in (select version_id from changed)`;
    await tx`insert into public.copy select * from changed`;
    await tx`insert into public.cursors (cursor) select cursor from reporting.change_commits order by commit_number desc limit 1`;
  });
}

const different = () => sql`
  (select * from public.copy except select * from reporting.node_validators_history)
  union all
  (select * from reporting.node_validators_history except select * from public.copy)`;

it('a copy that follows the change feed equals the history after joins, changes, departures and returns', async () => {
  await sql`create table public.copy as select * from reporting.node_validators_history limit 0`;
  await sql`create table public.cursors (taken bigint generated always as identity, cursor text not null)`;
  const feeds = ['a', 'b'].map((node) =>
    scriptedFeed(validators, { node, subnetId: 's' }, { confirmShrink: { observations: 1, minDuration: 0 } }),
  );
  for (let round = 0; round < 12; round += 1) {
    for (const [place, feed] of feeds.entries()) {
      const members = [0, 1, 2, 3, 4].filter((member) => (round * (place + 2) + member * 7) % 5 !== 0);
      feed.script = () =>
        onlyPage({
          validators: members.map((member) => ({
            nodeID: `v${member}`,
            startTime: 1,
            weight: 1 + ((round * member) % 3),
          })),
        });
      await run(recordingContext(sql, clock.read), feed);
      clock.now += 60_000;
    }
    if (round % 3 === 0) await update();
  }
  await update();
  expect(await different()).toHaveLength(0);
  const [counted] =
    await sql`select count(*) > 30 as many, count(*) filter (where ended_by = 'gone') > 0 as gone from public.copy`;
  expect(counted).toEqual({ many: true, gone: true });
});

it('the same update twice changes nothing, and a commit that was running before the cursor is included', async () => {
  const feed = scriptedFeed(validators, { node: 'late', subnetId: 's' });
  feed.script = () => onlyPage({ validators: [{ nodeID: 'late', startTime: 1, weight: 1 }] });
  // The transaction of the run ends after a later update has read the feed.
  const blocking = await sql.reserve();
  await blocking`begin`;
  await blocking`lock table recorder.validators in exclusive mode`;
  const recording = run(recordingContext(sql, clock.read), feed);
  await expect
    .poll(async () => (await sql`select from pg_locks where not granted`).length, { timeout: 20_000 })
    .toBeGreaterThan(0);
  await update();
  await blocking`commit`;
  blocking.release();
  await recording;
  expect(await different()).toHaveLength(1);
  await update();
  await update();
  expect(await different()).toHaveLength(0);
});
