import postgres from 'postgres';
import { expect, it } from 'vitest';
import type { Commit, CommitPages } from '../../src/recording/commit.ts';
import { createRunCommit } from '../../src/recording/compiled-feed.ts';

const commits = postgres(); // never connects
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
  updatesFreshness: true,
  isSweep: false,
  plannedAt: null,
  end: null,
};

/** Recorded commits: whether each checks for existing rows. */
function createStore(fails: (shouldLookUp: boolean) => Error | null) {
  const lookUps: boolean[] = [];
  const commit: CommitPages = async (_, { shouldLookUp = false }) => {
    lookUps.push(shouldLookUp);
    const error = fails(shouldLookUp);
    if (error) throw error;
    return { rowsWritten: [], unconfirmed: false };
  };
  return { lookUps, store: createRunCommit({ commit, decoders: [] }) };
}
const violation = () =>
  Object.assign(new postgres.PostgresError('duplicate key'), { code: '23505', message: 'duplicate key' });

it('checks all rows for existing ones after a row that was wrongly assumed to be new', async () => {
  const { lookUps, store } = createStore((shouldLookUp) => (shouldLookUp ? null : violation()));
  await store(commits, pages);
  await store(commits, pages);
  expect(lookUps).toEqual([false, true, true]);
});

it('reports other refusals of a commit, and a second refusal too', async () => {
  const refused = createStore(() => new Error('no room'));
  await expect(refused.store(commits, pages)).rejects.toThrow('no room');
  expect(refused.lookUps).toEqual([false]);
  const refusedAgain = createStore(violation);
  await expect(refusedAgain.store(commits, pages)).rejects.toThrow('duplicate key');
  expect(refusedAgain.lookUps).toEqual([false, true]);
});
