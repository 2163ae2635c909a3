import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { activeFeeds, catalogNames } from '../src/app/configured-feeds.ts';
import { loadConfig } from '../src/config/load.ts';

const folder = fileURLToPath(new URL('../examples/', import.meta.url));
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

it('there is an example for each way of use', () => {
  expect(examples).toEqual(
    expect.arrayContaining(['fuji.yaml', 'l1.yaml', 'mainnet.yaml', 'validator.yaml']),
  );
});

it.each(examples)('%s is a valid configuration, and records something', (name) => {
  const config = loadConfig(folder + name, catalogNames);
  const recorded = activeFeeds(config).filter(({ targets }) => targets.length > 0);
  expect(recorded).not.toEqual([]);
});
