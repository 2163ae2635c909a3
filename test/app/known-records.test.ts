import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KnownRecords } from '../../src/app/known-records.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'recorder-known-'));
});
afterEach(() => rmSync(place, { recursive: true }));

/** A state directory with a database. */
function record(name: string): string {
  const dir = join(place, name, '.recorder');
  mkdirSync(join(dir, 'postgres'), { recursive: true });
  return dir;
}

it('returns the last used record that still exists', () => {
  const records = new KnownRecords(join(place, 'state'));
  const [one, two, three] = [record('one'), record('two'), record('three')];
  expect(records.last(one)).toBeNull();
  for (const dir of [one, two, three, two]) records.remember(dir);
  expect(records.last(one)).toBe(two);
  expect(records.last(two)).toBe(three);
  rmSync(three, { recursive: true });
  expect(records.last(two)).toBe(one);
});

it('keeps a bounded number', () => {
  const records = new KnownRecords(place);
  for (let n = 0; n < 50; n++) records.remember(join(place, String(n)));
  expect(readFileSync(join(place, 'chain-recorder/records'), 'utf8').split('\n')).toHaveLength(21);
});

it('returns nothing if nothing can be read or written', () => {
  writeFileSync(join(place, 'file'), '');
  const records = new KnownRecords(join(place, 'file'));
  records.remember(record('one'));
  expect(records.last(join(place, 'other'))).toBeNull();
});
