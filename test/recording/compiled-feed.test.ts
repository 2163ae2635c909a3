import pg from 'pg';
import { expect, it } from 'vitest';
import type { BulkClient } from '../../src/db/bulk-client.ts';
import type { Commit, CommitPages } from '../../src/recording/commit.ts';
import { commitsOf } from '../../src/recording/compiled-feed.ts';

const bulk: BulkClient = { isIdle: () => true, ask: async () => [], end: async () => {} };
const pages: Commit = {
  target: {},
  targetKey: '',
  runId: 1,
  observedAt: '2026-01-10T00:00:00Z',
  recordedAt: '2026-01-10T00:00:00Z',
  late: false,
  batches: [],
  covered: [],
  answered: null,
  shownFrom: null,
  indexProgress: null,
  gaps: [],
  quarantined: [],
  released: [],
  pages: 1,
  items: [],
  requests: 1,
  units: 1,
  window: null,
  note: null,
  aboutNow: true,
  plannedAt: null,
  end: null,
};

/** Commits that are noted: whether each looks its rows up. */
function noted(fails: (looksUp: boolean) => Error | null) {
  const asked: boolean[] = [];
  const commit: CommitPages = async (_, { looksUp = false }) => {
    asked.push(looksUp);
    const error = fails(looksUp);
    if (error) throw error;
    return { rowsWritten: [], unconfirmed: false };
  };
  return { asked, store: commitsOf({ commit, decoders: [] }) };
}
const violation = () => Object.assign(new pg.DatabaseError('duplicate key', 13, 'error'), { code: '23505' });

it('a run that met a row which it took for new looks all rows up from then on', async () => {
  const { asked, store } = noted((looksUp) => (looksUp ? null : violation()));
  await store(bulk, pages);
  await store(bulk, pages);
  expect(asked).toEqual([false, true, true]);
});

it('what a commit is refused for otherwise is told, and a second refusal too', async () => {
  const other = noted(() => new Error('no room'));
  await expect(other.store(bulk, pages)).rejects.toThrow('no room');
  expect(other.asked).toEqual([false]);
  const again = noted(violation);
  await expect(again.store(bulk, pages)).rejects.toThrow('duplicate key');
  expect(again.asked).toEqual([false, true]);
});
