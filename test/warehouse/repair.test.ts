import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { type ExportInput, exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest, type Manifest, manifestPaths, manifestText } from '../../src/warehouse/manifest.ts';
import { restoreRecord } from '../../src/warehouse/restore.ts';
import { testDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Duck, openDuck, rowsInDuck, rowsInPostgres, versionsOf } from './lake.ts';
import { writeRows } from './synthetic.ts';

const { it, database, sql } = withDatabase({ max: 2, connection: { TimeZone: 'UTC' } });
let duck: Duck;
const folder = temporaryFolder('repair');
const pristine = join(folder, 'pristine');
const signal = new AbortController().signal;
const names = ['p_blocks', 'validators', 'metric_points'];
const chosen = warehouseTables.filter(({ name }) => names.includes(name));

beforeAll(async () => {
  duck = await openDuck();
  await sql`
    insert into recorder.quarantine (dataset, target_key, run_id, quarantined_at, observed_at, last_seen, reason, item, digest)
    select 'validators', 'node=1', 7, now(), now(), now(), 'invalid', '{}', n::text from generate_series(1, 2) n`;
  for (const first of [1, 101]) {
    for (const table of chosen) await writeRows(sql, table, first, 30);
    await exportAll(pristine, { tables: warehouseTables });
  }
});
afterAll(async () => {
  duck?.close();
});

async function exportAll(place: string, more: Partial<ExportInput> = {}) {
  const target = new DirectoryTarget(place);
  try {
    return await exportTables({
      databaseUrl: database.url,
      target,
      tables: chosen,
      format: 'parquet',
      incremental: true,
      verify: false,
      signal,
      ...more,
    });
  } finally {
    await target.close();
  }
}

let copies = 0;
function copy(): string {
  copies += 1;
  const place = join(folder, `copy-${copies}`);
  cpSync(pristine, place, { recursive: true });
  return place;
}

async function manifestOf(place: string): Promise<Manifest> {
  const manifest = await currentManifest(new DirectoryTarget(place));
  if (!manifest) throw new Error(`nothing was exported to ${place}`);
  return manifest;
}

const filesOf = (manifest: Manifest) => [
  ...Object.values(manifest.tables).flatMap(({ files }) => files),
  ...Object.values(manifest.bookkeeping?.tables ?? {}).flatMap(({ files }) => files),
];

/** Expects every file of the manifest with its content, and the record in DuckDB from the folder. */
async function expectWhole(place: string): Promise<void> {
  for (const { path, bytes, sha256 } of filesOf(await manifestOf(place))) {
    const content = readFileSync(join(place, path));
    expect(content.length, path).toBe(bytes);
    expect(createHash('sha256').update(content).digest('hex'), path).toBe(sha256);
  }
  for (const table of chosen)
    expect(await rowsInDuck(duck, versionsOf(place, table), table), table.name).toEqual(
      await rowsInPostgres(sql, table),
    );
}

const flip = (path: string) => {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
};

/** A change of a file, and whether only its content shows it. */
const damages: Readonly<Record<string, readonly [(path: string) => void, boolean]>> = {
  deleted: [(path) => rmSync(path), false],
  renamed: [(path) => renameSync(path, `${path}.old`), false],
  emptied: [(path) => truncateSync(path, 0), false],
  truncated: [(path) => truncateSync(path, statSync(path).size - 1), false],
  lengthened: [(path) => writeFileSync(path, 'x', { flag: 'a' }), false],
  'replaced by a link': [
    (path) => {
      renameSync(path, `${path}.old`);
      symlinkSync(`${path}.old`, path);
    },
    false,
  ],
  changed: [flip, true],
};

describe('an incremental export', () => {
  it('writes missing files of its manifest again, for any damage of any file', async () => {
    const manifest = await manifestOf(pristine);
    const files = filesOf(manifest).filter(({ rows }) => rows > 0);
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(files, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...Object.keys(damages)),
        async (damaged, kind) => {
          const [damage, contentOnly] = damages[kind] ?? [];
          const place = copy();
          for (const { path } of damaged) damage?.(join(place, path));
          const made = await exportAll(place, { tables: warehouseTables, verify: contentOnly ?? false });
          expect(made.damaged.map(({ path }) => path).sort()).toEqual(damaged.map(({ path }) => path).sort());
          await expectWhole(place);
          rmSync(place, { recursive: true });
        },
      ),
      { numRuns: 8 },
    );
  }, 120_000);

  it('detects a removed folder, and keeps files of other tables', async () => {
    const place = copy();
    rmSync(join(place, 'p_blocks'), { recursive: true });
    rmSync(join(place, 'validators'), { recursive: true });
    const only = chosen.filter(({ name }) => name === 'p_blocks');
    expect((await exportAll(place, { tables: only })).damaged.map(({ table }) => table)).toEqual([
      ...Array.from(
        { length: (await manifestOf(pristine)).tables.p_blocks?.files.length ?? 0 },
        () => 'p_blocks',
      ),
    ]);
    expect(existsSync(join(place, 'validators'))).toBe(false);
    await exportAll(place);
    await expectWhole(place);
  });

  it('reads no content without --verify, and compares every file with it', async () => {
    const place = copy();
    const [first] = (await manifestOf(place)).tables.p_blocks?.files ?? [];
    flip(join(place, first?.path ?? ''));
    expect((await exportAll(place)).damaged).toEqual([]);
    expect((await exportAll(place, { verify: true })).damaged).toMatchObject([
      { table: 'p_blocks', path: first?.path, problem: 'content' },
    ]);
    await expectWhole(place);
  });
});

/** Actions directly before or after an exporter changes a folder. */
type TargetEvents = Partial<
  Readonly<Record<'manifest' | 'committed' | 'taken' | 'removing', () => Promise<void>>>
>;

/** A folder with {@link TargetEvents}. */
class ObservedTarget extends DirectoryTarget {
  readonly #on: TargetEvents;

  constructor(place: string, on: TargetEvents) {
    super(place);
    this.#on = on;
  }

  override async create(path: string, text: string): Promise<boolean> {
    const isManifest = path.startsWith('manifests/');
    if (isManifest) await this.#on.manifest?.();
    const created = await super.create(path, text);
    if (isManifest) await this.#on.committed?.();
    return created;
  }

  override async take(file: string, path: string): Promise<void> {
    await super.take(file, path);
    await this.#on.taken?.();
  }

  override async remove(paths: readonly string[]): Promise<void> {
    await this.#on.removing?.();
    await super.remove(paths);
  }
}

describe('files of an export that was killed', () => {
  const partsIn = (place: string) =>
    readdirSync(place, { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('.parquet'))
      .sort();
  const listedIn = async (place: string) => {
    const manifest = await manifestOf(place);
    return [...new Set(manifestPaths(manifest))].sort();
  };
  const killed = () => Promise.reject(new Error('killed'));
  const killBeforeManifest = (place: string) =>
    expect(
      exportAll(place, {
        incremental: false,
        target: new ObservedTarget(place, { manifest: killed, removing: killed }),
      }),
    ).rejects.toThrow('killed');

  it.each([
    ['the first one of a folder', () => join(folder, 'first')],
    ['a later one', copy],
  ])('are removed by the next export, and no files of users: %s', async (_, placeOf) => {
    const place = placeOf();
    await killBeforeManifest(place);
    await killBeforeManifest(place);
    const left = partsIn(place);
    const [file = ''] = left.filter((path) => path.startsWith('p_blocks/'));
    const users = ['mine.parquet', 'part-00000001-0a1b2c3d-0.parquet'].map((name) =>
      join(dirname(file), name),
    );
    for (const path of users) copyFileSync(join(place, file), join(place, path));
    await exportAll(place);
    expect(partsIn(place)).toEqual([...(await listedIn(place)), ...users].sort());
    expect(readdirSync(join(place, 'unfinished'))).toEqual([]);
    await expectWhole(place);
  });

  it('are removed if it was killed directly after its manifest, and no file of that manifest', async () => {
    const place = copy();
    await expect(
      exportAll(place, { target: new ObservedTarget(place, { committed: killed, removing: killed }) }),
    ).rejects.toThrow('killed');
    expect((await manifestOf(place)).export).toBe(3);
    await exportAll(place);
    expect(partsIn(place)).toEqual(await listedIn(place));
    await expectWhole(place);
  });

  it('are distinguished from files of concurrent exports', async () => {
    const place = copy();
    const before = partsIn(place).length;
    let [isFirst, later] = [true, 0];
    const slow = exportAll(place, {
      incremental: false,
      target: new ObservedTarget(place, {
        // Another export completes with the number of this one, and directly after its manifest a third one.
        taken: async () => {
          if (!isFirst) return;
          isFirst = false;
          await exportAll(place, {
            target: new ObservedTarget(place, {
              committed: async () => {
                later = (await exportAll(place, { incremental: false })).manifest.export;
              },
            }),
          });
        },
      }),
    });
    await expect(slow).rejects.toMatchObject({ name: 'ExportLostError' });
    expect(later).toBe(4);
    expect(partsIn(place)).toEqual(await listedIn(place));
    expect(partsIn(place).length).toBeGreaterThan(before);
    expect(readdirSync(join(place, 'unfinished'))).toEqual([]);
    await expectWhole(place);
  });
});

describe('a manifest', () => {
  it('that is damaged is ignored: the copy, the numbered one and the previous one replace each other', async () => {
    for (const lost of [
      ['manifest.json'],
      ['manifests/00000002.json'],
      ['manifest.json', 'manifests/00000002.json'],
    ])
      for (const damage of ['deleted', 'truncated', 'changed'] as const) {
        const place = copy();
        for (const path of lost) damages[damage]?.[0](join(place, path));
        await exportAll(place, { tables: warehouseTables });
        await expectWhole(place);
        expect((await manifestOf(place)).export).toBeGreaterThanOrEqual(
          3 - (damage === 'deleted' && lost.length > 1 ? 1 : 0),
        );
        rmSync(place, { recursive: true });
      }
  }, 120_000);

  it.each([
    ['of another program', () => '<html>\n<p>Not Found\n</html>', /: the file is not JSON$/],
    ['of another program as JSON', () => '{\n "name": "app"\n}', /: the number "manifest" is missing$/],
    [
      'with two invalid paths',
      (one: Manifest) => manifestText({ ...one, superseded: ['../x', 'two\nlines'] }),
      /: superseded\.0: [^\n]+; superseded\.1: [^\n]+$/,
    ],
  ])('is refused with one line: %s', async (_, text, problems) => {
    copies += 1;
    const place = join(folder, `copy-${copies}`);
    mkdirSync(place);
    writeFileSync(join(place, 'manifest.json'), text(await manifestOf(pristine)));
    const refused = await manifestOf(place).catch(String);
    expect(refused).toMatch(/^Error: \S+manifest\.json: is not a valid manifest for this version: [^\n]+$/);
    expect(refused).toMatch(problems);
  });

  it('with an edit by another program is refused by a restore', async () => {
    const empty = await testDatabase();
    try {
      const place = copy();
      const manifest = await manifestOf(place);
      const edits: ((one: Manifest) => void)[] = [
        (one) => Object.assign(one.bookkeeping?.numbers ?? {}, { 'runs.run_id': '9223372036854775000' }),
        (one) => Object.assign(one, { exported_at: '2020-01-01T00:00:00.000000Z' }),
        (one) => one.tables.p_blocks?.files.pop(),
      ];
      for (const edit of edits) {
        const edited = structuredClone(manifest);
        edit(edited);
        const { sha256 } = JSON.parse(manifestText(manifest)) as { sha256: string };
        const text = JSON.stringify({ ...edited, sha256 });
        for (const path of ['manifest.json', 'manifests/00000002.json'])
          writeFileSync(join(place, path), text);
        await expect(
          restoreRecord({ databaseUrl: empty.url, source: new DirectoryTarget(place), signal }),
        ).rejects.toThrow(/manifest.*was changed/);
      }
    } finally {
      await empty.close();
    }
  });

  it('with numbers or a seal that contradict the rows is refused by a restore, whatever program wrote it', async () => {
    const empty = await testDatabase();
    try {
      const place = copy();
      const manifest = await manifestOf(place);
      const { bookkeeping } = manifest;
      if (bookkeeping === null) throw new Error('the export has no bookkeeping');
      const { 'quarantine.id': last, ...others } = bookkeeping.numbers;
      expect([last, bookkeeping.seal]).toEqual(['2', null]);
      const numbers = [
        others,
        { ...others, 'quarantine.id': '1' },
        { ...others, 'quarantine.id': '-1' },
        { ...others, 'quarantine.id': '9223372036854775807' },
        { ...bookkeeping.numbers, 'coverage.target_key': '5' },
        { ...bookkeeping.numbers, "runs'; drop table recorder.runs; --.x": '5' },
      ].map((one) => ({ edit: { numbers: one }, refusal: /sequence value|bookkeeping\.numbers/ }));
      const seal = { seal: 1, until: '2026-11-01T00:00:00Z', head: 'f'.repeat(64) };
      const edits = [...numbers, { edit: { seal }, refusal: /newest seal is none instead of f{64}/ }];
      for (const { edit, refusal } of edits) {
        const text = manifestText({ ...manifest, bookkeeping: { ...bookkeeping, ...edit } });
        for (const path of ['manifest.json', 'manifests/00000002.json'])
          writeFileSync(join(place, path), text);
        await expect(
          restoreRecord({ databaseUrl: empty.url, source: new DirectoryTarget(place), signal }),
          JSON.stringify(edit),
        ).rejects.toThrow(refusal);
      }
    } finally {
      await empty.close();
    }
  });
});
