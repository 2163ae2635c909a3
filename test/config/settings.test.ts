import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { readSecrets } from '../../src/config/secrets.ts';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';
import { DEFAULT_SHRINK_CONFIRMATION } from '../../src/recording/active-feed.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** Returns every property below a part of a JSON Schema, with its path. */
function properties(part: unknown, path: string): [string, object][] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([keyword, inner]): [string, object][] => {
    if (keyword === 'properties')
      return Object.entries<object>(inner).flatMap(([name, property]) => [
        [`${path}.${name}`, property],
        ...properties(property, `${path}.${name}`),
      ]);
    if (keyword !== 'additionalProperties' || typeof inner !== 'object') return properties(inner, path);
    return [[`${path}.*`, inner], ...properties(inner, `${path}.*`)];
  });
}

/** Returns the rows of the tables of a page, as their cells. */
const rowsOf = (page: string) =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('every setting of recorder.yaml', () => {
  const all = properties(JSON.parse(read('docs/recorder.schema.json')), '');
  const rows = rowsOf(read('docs/reference/settings.md'));

  it('is described', () => {
    expect(all.map(([path]) => path)).toEqual(
      expect.arrayContaining([
        '.network',
        '.watch.evmAddresses.chain',
        '.datasets.*.confirmShrink.observations',
      ]),
    );
    const silent = all.filter(([, part]) => !('description' in part) || part.description === '');
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  it('has a line on the page with its description and its default', () => {
    const documented = rows.map(([key = '']) => `.${key.replaceAll(/`|\[\]/g, '').replace('DATASET', '*')}`);
    const parts = new Set(all.map(([path]) => path));
    // A section of the file has a heading instead.
    expect([...parts].filter((path) => !documented.includes(path)).sort()).toEqual(
      [
        'alerts',
        'changes',
        'datasets',
        'exports',
        'health',
        'retention',
        'runs',
        'server',
        'upstreams',
        'watch',
      ].map((name) => `.${name}`),
    );
    for (const [key, value, , preset, about] of rows.filter((cells) => !/^`[A-Z_]+`$/.test(cells[0] ?? ''))) {
      expect(about, key).not.toBe('');
      if (value !== 'a mapping') expect(preset, key).not.toBe('');
    }
  });
});

it("the page has the recorder's own defaults of a confirmation", () => {
  const cells = new Map(rowsOf(read('docs/reference/settings.md')).map(([key, , , preset]) => [key, preset]));
  expect(cells.get('`datasets.DATASET.confirmShrink.observations`')).toBe(
    String(DEFAULT_SHRINK_CONFIRMATION.observations),
  );
  expect(cells.get('`datasets.DATASET.confirmShrink.minDuration`')).toBe(
    DEFAULT_SHRINK_CONFIRMATION.minDuration === 0 ? 'none' : `${DEFAULT_SHRINK_CONFIRMATION.minDuration}`,
  );
});

describe('the environment', () => {
  const variables = Object.entries<Variable>(VARIABLES);
  const names = variables.flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));

  it('is read completely and no further', () => {
    const readNames = new Set<string>();
    const env = new Proxy<NodeJS.ProcessEnv>(
      {},
      {
        get: (_, name) => {
          readNames.add(String(name));
          return undefined;
        },
      },
    );
    readEnvironment(env);
    expect([...readNames].sort()).toEqual(names.toSorted());
    readNames.clear();
    readSecrets(env);
    // Every secret variable is redacted in output.
    expect([...readNames].sort()).toEqual(
      variables.flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [])).toSorted(),
    );
  });

  it('has a line on the page for each variable', () => {
    const rows = rowsOf(read('docs/reference/settings.md')).filter(([name = '']) => /^`[A-Z_]+`$/.test(name));
    expect(rows.map(([name]) => name)).toEqual(variables.map(([name]) => `\`${name}\``));
    for (const [name, value, preset, , about] of rows)
      for (const cell of [value, preset, about]) expect(cell, name).not.toBe('');
  });
});
