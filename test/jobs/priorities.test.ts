import { expect, it } from 'vitest';
import { feeds } from '../../src/datasets/catalog.ts';
import { recordJob } from '../../src/jobs/jobs.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';

const all = feeds.map((feed) => withDefaultSettings(feed, []));

const priorityOf = (feed: (typeof all)[number], firstPoll?: number) => {
  const job = { target: { node: 'a' }, window: null, reason: 'poll' as const };
  return recordJob(feed, { ...job, ...(firstPoll === undefined ? {} : { firstPoll }) }).opts.priority;
};

it('ranks the first poll of every list before the first walk over a past', () => {
  const lists = all.filter(({ source }) => !source.range).map((feed) => priorityOf(feed, 0));
  const walks = all.filter(({ source }) => source.range).map((feed) => priorityOf(feed, 0));
  expect(lists.length).toBeGreaterThan(20);
  expect(walks.length).toBeGreaterThan(5);
  expect(Math.max(...lists)).toBeLessThan(Math.min(...walks));
});

it('ranks the first target of every feed before the second walk of any', () => {
  const second = Math.min(...all.filter(({ source }) => source.range).map((feed) => priorityOf(feed, 1)));
  for (const feed of all) expect(priorityOf(feed, 0), feed.source.name).toBeLessThan(second);
});

it('does not let many first polls delay polls of each minute', () => {
  for (const feed of all) expect(priorityOf(feed, 100), feed.source.name).toBeGreaterThanOrEqual(60);
});

it('excludes the rank from the job', () => {
  const [feed] = all;
  if (!feed) throw new Error('no feed');
  const { data } = recordJob(feed, { target: {}, window: null, reason: 'poll', firstPoll: 3 });
  expect(data).not.toHaveProperty('firstPoll');
});
