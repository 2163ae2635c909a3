import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 2 });

const start = Date.UTC(2026, 10, 1);
const minute = 60_000;
let lists = 0;

/** A list of validators whose polls a test controls: weights by number. */
function list() {
  lists += 1;
  const subnetId = `list-${lists}`;
  const clock = new ManualClock(start);
  const feed = scriptedFeed(
    validators,
    { node: 'n', subnetId },
    { confirmShrink: { observations: 1, minDuration: 0 } },
  );
  const context = recordingContext(sql, clock.read);
  return {
    subnetId,
    clock,
    feed,
    context,
    async poll(weights: Readonly<Record<string, number>>) {
      const listed = Object.entries(weights).map(([name, weight]) => ({
        nodeID: name,
        startTime: 1,
        weight,
      }));
      feed.script = () => onlyPage({ validators: listed });
      await run(context, feed);
      clock.now += minute;
    },
    changes: async () => [
      ...(await sql`
        select ((extract(epoch from at) * 1000 - ${start}) / ${minute})::int as at, change, node_id,
          (before ->> 'weight')::int as before, (after ->> 'weight')::int as after, is_initial
        from reporting.node_validators_changes where subnet_id = ${subnetId} order by at, node_id`),
    ],
  };
}

describe('changes of a list', () => {
  it('are joins, changes and departures, with the values before and after', async () => {
    const { poll, changes } = list();
    await poll({ a: 1, b: 2 });
    await poll({ a: 1, b: 3, c: 4 });
    await poll({ a: 1, c: 4 });
    await poll({ a: 1, b: 3, c: 4 });
    expect(await changes()).toEqual([
      { at: 0, change: 'joined', node_id: 'a', before: null, after: 1, is_initial: true },
      { at: 0, change: 'joined', node_id: 'b', before: null, after: 2, is_initial: true },
      { at: 1, change: 'changed', node_id: 'b', before: 2, after: 3, is_initial: false },
      { at: 1, change: 'joined', node_id: 'c', before: null, after: 4, is_initial: false },
      { at: 2, change: 'left', node_id: 'b', before: 3, after: null, is_initial: false },
      { at: 3, change: 'joined', node_id: 'b', before: null, after: 3, is_initial: false },
    ]);
  });

  it('that was empty at the first poll include joins: the poll is known though it found no member', async () => {
    const { poll, changes } = list();
    await poll({});
    await poll({ a: 1 });
    expect(await changes()).toEqual([
      { at: 1, change: 'joined', node_id: 'a', before: null, after: 1, is_initial: false },
    ]);
  });

  it('are none if a target is not watched any more, and if it is again', async () => {
    const { poll, changes, subnetId, clock } = list();
    await poll({ same: 1, other: 2, lost: 3 });
    const ended = await sql`
      update recorder.validators set valid_to = ${new Date(clock.now)}, ended_by = 'unwatched'
      where subnet_id = ${subnetId} returning 1`;
    expect(ended).toHaveLength(3);
    clock.now += minute;
    await poll({ same: 1, other: 5, late: 4 });
    expect((await changes()).slice(3)).toEqual([
      { at: 2, change: 'joined', node_id: 'late', before: null, after: 4, is_initial: false },
      { at: 2, change: 'changed', node_id: 'other', before: 2, after: 5, is_initial: false },
    ]);
  });

  it('sum to the list at every moment', async () => {
    const polls = fc.array(
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 2 })),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(polls, async (all) => {
        const { poll, changes, subnetId } = list();
        for (const weights of all) await poll(weights);
        const allChanges = await changes();
        const members = new Map<string, number>();
        for (const [at, weights] of all.entries()) {
          for (const one of allChanges.filter((change) => change.at === at))
            if (one.change === 'left') expect(members.delete(one.node_id)).toBe(true);
            else {
              expect(members.get(one.node_id) ?? null).toBe(one.before);
              members.set(one.node_id, one.after);
            }
          expect(Object.fromEntries(members)).toEqual({ ...weights });
          const rows = await sql`
            select node_id, weight::int from reporting.node_validators_as_of(${new Date(start + at * minute + 1)})
            where subnet_id = ${subnetId}`;
          expect(Object.fromEntries(rows.map(({ node_id, weight }) => [node_id, weight]))).toEqual({
            ...weights,
          });
        }
      }),
      { numRuns: 25 },
    );
  });
});
